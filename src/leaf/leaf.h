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

// What a leaf is given each time it runs.
struct LeafArguments {
  std::vector<int64_t> values;   // by variable: the loops that stand still, launch variables included
  std::vector<View> operands;    // by access of the leaf; 0 is the output. Behind them come the workspaces
  std::byte* scratch = nullptr;  // workspace_bytes of memory for the workspaces
  bool begin = false;            // the output holds nothing yet: to be set, not added to
  Team* team = nullptr;          // the threads that may share this leaf's work; none: the caller alone
};

// A part of a stage's leaf. The outermost one also has the loops that the plan folded into it.
struct LeafTask {
  const StagePlan* stage;
  const LeafPart* part;
  std::vector<int> loops;
  // The variables that the part uses, and how they derive from its loops and those around it.
  IterationSpace<int64_t> space;
};
LeafTask whole_leaf(const StagePlan& stage);
LeafTask inner_task(const LeafTask& outer, const LeafPart& part);  // one of the outer's parts

// A leaf made for one stage at given params. Safe to run from several threads at once.
class LeafKernel {
 public:
  virtual ~LeafKernel() = default;
  // Whether it can be told to begin anew: every element of the output that it makes is then set, whatever it was.
  virtual bool can_begin() const { return false; }
  virtual void run(const LeafArguments& arguments) const = 0;
  // Whether several runs that add to the same part of the output, one after the other, are better done as one.
  virtual bool gains_together() const { return false; }
  virtual void run_together(std::span<const LeafArguments> runs) const {
    for (const LeafArguments& arguments : runs) run(arguments);
  }
  virtual std::string description() const = 0;
};

// A leaf that several owners have.
class SharedLeaf : public LeafKernel {
 public:
  explicit SharedLeaf(std::shared_ptr<const LeafKernel> leaf) : leaf_(std::move(leaf)) {}
  bool can_begin() const override { return leaf_->can_begin(); }
  void run(const LeafArguments& arguments) const override { leaf_->run(arguments); }
  bool gains_together() const override { return leaf_->gains_together(); }
  void run_together(std::span<const LeafArguments> runs) const override { leaf_->run_together(runs); }
  std::string description() const override { return leaf_->description(); }

 private:
  std::shared_ptr<const LeafKernel> leaf_;
};

enum class LeafChoice {
  Automatic,    // whatever is fastest: the library, or code of its own, or, as long as there is little to do,
                // interpretation
  Interpreted,  // always, also in place of a library
  Generated,    // code of its own, also in place of a library
  Strict,       // sums are added in the order of the schedule's loops: no library but where substitute asks for it
};

// What make_leaf would choose for each assignment of the leaf, and why no library where it chooses none; a line each.
// Compiles nothing.
std::string explain_leaf(const StagePlan& stage, ElementType type);

// The C++ of each assignment's code, with what explain_leaf says of it. Tiny leaves have the code of large ones.
std::string leaf_sources(const StagePlan& stage, ElementType type);

std::unique_ptr<LeafKernel> make_leaf(const StagePlan& stage, ElementType type, LeafChoice choice);

}  // namespace distal::core
