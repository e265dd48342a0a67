#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lang/element_type.h"
#include "plan/plan.h"
#include "store/view.h"
#include "support/team.h"

namespace distal::core {

// The arguments of one run of a leaf.
struct LeafArguments {
  std::vector<int64_t> values;   // by variable: the values of launch variables and of the loops around the leaf
  std::vector<View> operands;    // by access of the leaf, 0 is the output; then the workspaces
  std::byte* scratch = nullptr;  // memory for the workspaces: workspace_bytes
  bool overwrite = false;        // overwrite the output instead of adding to it
  Team* team = nullptr;          // the threads that share this run; null: the caller's thread only
};

// A part of a stage's leaf, to be made into a kernel. The outermost part also has the loops that the plan folded into
// it.
struct LeafTask {
  const StagePlan* stage;
  const LeafPart* part;
  std::vector<int> loops;
  // The variables that the part uses, and how they derive from its loops and the loops around it.
  IterationSpace<int64_t> space;
};
LeafTask whole_leaf(const StagePlan& stage);
LeafTask inner_task(const LeafTask& outer, const LeafPart& part);  // for one of the parts of `outer`

// A leaf for one stage at given params. Several threads may run it at once.
class LeafKernel {
 public:
  virtual ~LeafKernel() = default;
  // Whether run obeys LeafArguments::overwrite: it then sets every output element that it computes, whatever was there.
  virtual bool can_overwrite() const { return false; }
  virtual void run(const LeafArguments& arguments) const = 0;
  // Whether it pays to run several steps that add to the same part of the output as one. Only the first may overwrite
  // it.
  virtual bool gains_from_joining() const { return false; }
  virtual void run_joined(std::span<const LeafArguments> runs) const {
    for (const LeafArguments& arguments : runs) run(arguments);
  }
  virtual std::string description() const = 0;
};

using Leaves = std::vector<std::shared_ptr<const LeafKernel>>;  // of a plan, by stage

enum class LeafChoice {
  Automatic,    // the fastest: the library or generated code; small leaves are interpreted
  Interpreted,  // interpreted, also in place of a library
  Generated,    // generated code, also in place of a library
  Loops,        // generated code that runs the loops as scheduled
  Strict,       // sums are added in the order of the schedule's loops; a library only if substitute asks for it
};

struct LeafPlan;

// The leaf that choose_leaf chose.
std::unique_ptr<LeafKernel> make_leaf(const StagePlan& stage, ElementType type, const LeafPlan& plan);
std::unique_ptr<LeafKernel> make_leaf(const StagePlan& stage, ElementType type, LeafChoice choice);

// The generated C++ of each assignment. For a tiny leaf it is the code that would run if the leaf were large.
std::string leaf_sources(const StagePlan& stage, ElementType type, const LeafPlan& plan);

}  // namespace distal::core
