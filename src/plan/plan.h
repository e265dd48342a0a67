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
  // A processor may fetch from a neighbour that acquired the same rectangle at the step before. The neighbour then
  // keeps its copy one step longer, in a second buffer. Without this every reader fetches from an owner.
  bool neighbours = true;
  // Loops that only touch local data become loops of the leaf. Without this the leaf is that of the Program.
  bool fold = true;
};

struct TensorPlan {
  std::string name;
  Ownership owners;
  std::vector<int> order;  // the storage order: dimensions, outermost first
  int64_t element_bytes = 0;

  int64_t piece_bytes(int64_t processor) const {
    return owners.owns_any(processor) ? owners.piece_of(processor).volume() * element_bytes : 0;
  }
};

// An access with numbers; see AccessIndices.
struct PlacedAccess {
  std::vector<int> variables;
  Coordinates offsets;  // by index
};

struct AcquirePlan {
  const Acquire* acquire = nullptr;
  int tensor = 0;          // in Plan::tensors
  std::vector<int> order;  // the tensor's storage order
  std::vector<PlacedAccess> accesses;
  std::vector<bool> is_fixed;  // by variable: has one value during the acquire
  std::vector<int> blocks;     // those of the Program, without loops that leave no holes at these params
};

// A stage at given params.
struct StagePlan {
  const Stage* stage = nullptr;
  int output = 0;  // in Plan::tensors
  MachineShape machine;
  IterationSpace<int64_t> space;
  std::vector<int> machine_dimension;  // by variable: the machine dimension it takes its value from, or -1
  std::vector<int64_t> held;           // by machine dimension: the one coordinate that takes part, or -1 if all do
  std::vector<int> everywhere;         // the machine dimensions along which every coordinate does the same work
  std::vector<AcquirePlan> acquires;   // by id
  std::vector<int> leaf_loops;         // of the leaf's outermost part
  std::map<int, int64_t> unroll;       // by loop of the leaf: its unroll factor
  std::vector<bool> leaf_is_fixed;     // by variable: a loop outside the leaf
  bool is_empty = false;               // an index of the statement has no values: no place has iterations
  // One run of a leaf computes each element of the output completely, so the output need not be zero before.
  bool makes_whole_output = false;
  // Every run of the leaf that has work adds to every element of its rectangle of the output. If this rectangle is a
  // whole copy, the first run on the copy can overwrite it instead, and no zeros need to be written before.
  bool adds_to_all = false;
  // The outermost of the loops that folding moved into the leaf; null if it moved none.
  const Node* fold_at = nullptr;

  const PlacedAccess& access(const LeafAccess& a) const { return acquires[a.acquire].accesses[a.rect]; }
  int64_t coordinate(int64_t processor, int dimension) const;
  // `processor`, with the coordinates of `place` in the `everywhere` dimensions.
  int64_t counterpart(int64_t processor, int64_t place) const;
  // The places that take part in an acquire: processors, or, with fewer levels than the machine has, the first
  // processor of each upper-level processor.
  std::vector<int64_t> places(int place_levels) const;
  // Sets the intervals of all variables for a place; false if the place has no iterations then.
  bool bounds_at(int64_t place, const std::vector<bool>& is_fixed, const std::vector<int64_t>& values,
                 std::vector<Interval<int64_t>>& intervals) const;
};

// A Program at given params: which processor sends what to which, and when. `walk` makes its steps in time order.
struct Plan {
  std::shared_ptr<const Program> program;
  Bindings params;
  PlanOptions options;
  std::vector<TensorPlan> tensors;
  std::vector<StagePlan> stages;
  int64_t processors = 1;

  int tensor_index(const std::string& name) const;
};

inline constexpr int64_t kMaxSteps = 10'000'000;
// Throws an Error if there are more than kMaxSteps steps; it names the tensors to communicate further out.
Plan make_plan(std::shared_ptr<const Program> program, const Bindings& params, PlanOptions options = {});

// The rectangle of an access under given intervals.
Rect rect_of(const PlacedAccess& access, const std::vector<Interval<int64_t>>& intervals);

}  // namespace distal::core
