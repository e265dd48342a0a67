#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/bounds.h"
#include "plan/machine_shape.h"
#include "plan/ownership.h"
#include "plan/rect.h"
#include "program/program.h"

namespace distal::core {

struct PlanOptions {
  // A copy that a processor acquired may serve its neighbours at the next step; it is then kept one step longer.
  // Without this every reader goes to the owner, and one buffer an acquire is enough.
  bool neighbours = true;
  // Loops that step through data that is at hand anyway become the leaf's. Without this the leaf is the Program's.
  bool fold = true;
};

struct TensorPlan {
  std::string name;
  Ownership owners;
  std::vector<int> order;
  int64_t element_bytes = 0;

  int64_t piece_bytes(int64_t processor) const {
    return owners.owns_any(processor) ? owners.piece_of(processor).volume() * element_bytes : 0;
  }
};

struct AcquirePlan {
  const Acquire* acquire = nullptr;
  int tensor = 0;              // in Plan::tensors
  std::vector<int> order;      // its storage order
  std::vector<bool> is_fixed;  // by variable: stands still here
  std::vector<int> blocks;     // as the Program's, without loops that leave no holes after all
};

// A stage at given params.
struct StagePlan {
  const Stage* stage = nullptr;
  int output = 0;  // in Plan::tensors
  MachineShape machine;
  IterationSpace<int64_t> space;
  std::vector<int> machine_dimension;  // by variable: the machine dimension it takes its value from, or -1
  std::vector<int64_t> held;           // by machine dimension: the coordinate it is held at, or -1
  std::vector<int> everywhere;         // the machine dimensions at whose every coordinate the same is done
  std::vector<AcquirePlan> acquires;   // by id
  std::vector<int> leaf_loops;         // of the leaf's outermost part
  std::map<int, int64_t> unroll;       // by loop of the leaf
  std::vector<bool> leaf_is_fixed;     // by variable: a loop that stands still while the leaf runs
  // Every element of the output is made, in whole, by one run of a leaf: it need not be zero before.
  bool makes_whole_output = false;
  // A run of the leaf that does anything adds something to every element of its part of the output: where that is all
  // of a copy, the first run can set it, and nobody writes zeros before.
  bool adds_to_all = false;
  // The node from which on everything is the leaf's: loops that would step through data that is at hand anyway.
  const Node* fold_at = nullptr;

  int64_t coordinate(int64_t processor, int dimension) const;
  // The processor beside `processor` that has the coordinates of `place` where the same is done everywhere.
  int64_t beside(int64_t processor, int64_t place) const;
  // The processors (or, with fewer levels, the first processor of each upper-level one) that take part.
  std::vector<int64_t> places(int place_levels) const;
  // Sets the intervals of all variables for a place; false if it has nothing to do there.
  bool bounds_at(int64_t place, const std::vector<bool>& is_fixed, const std::vector<int64_t>& values,
                 std::vector<Interval<int64_t>>& intervals) const;
};

// A Program at given params: who sends what to whom, when. A lazy stream of steps, walked in time order.
struct Plan {
  std::shared_ptr<const Program> program;
  Bindings params;
  PlanOptions options;
  std::vector<TensorPlan> tensors;
  std::vector<StagePlan> stages;
  int64_t processors = 1;

  int tensor_index(const std::string& name) const;
};

// Refuses a plan of more than kMaxSteps steps, naming the communicate that is missing.
inline constexpr int64_t kMaxSteps = 10'000'000;
Plan make_plan(std::shared_ptr<const Program> program, const Bindings& params, PlanOptions options = {});

// The rectangles of an access under given intervals.
Rect rect_of(const std::vector<int>& indices, const std::vector<Interval<int64_t>>& intervals);

}  // namespace distal::core
