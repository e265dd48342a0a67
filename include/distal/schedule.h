#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distal/index.h"
#include "distal/machine.h"
#include "distal/param.h"

namespace distal {

class TensorHandle;
struct TensorState;

// A kernel that can stand in for the innermost loops.
struct LeafKernelName {
  std::string name;
};
struct BLAS {
  inline static const LeafKernelName GeMM{"gemm"};
};

// How the threads of a parallel loop add to one element of the output.
enum class OutputRace {
  None,       // they do not: the loop indexes the output
  Reduction,  // each sums for itself, and the sums are added at the end of the loop
  Atomics,    // every addition is atomic
};

// What distribute goes onto: a machine of one level, a level of a machine, a grid in place, or a tensor whose
// distribution is followed.
class Onto {
 public:
  Onto(const Machine& machine);       // NOLINT: so that every form reads the same
  Onto(const Machine::Level& level);  // NOLINT
  Onto(const Grid& grid);             // NOLINT
  Onto(const TensorHandle& tensor);   // NOLINT

  struct Target;
  const Target& target() const { return *target_; }

 private:
  std::shared_ptr<const Target> target_;
};

// The schedule of a statement, built command by command. docs/language.md says what each command does. Commands are
// checked when the kernel is compiled.
class Schedule {
 public:
  Schedule& split(const IndexVar& target, const IndexVar& outer, const IndexVar& inner, const Int& size);
  Schedule& divide(const IndexVar& target, const IndexVar& outer, const IndexVar& inner, const Int& parts);
  Schedule& collapse(const IndexVar& outer, const IndexVar& inner, const IndexVar& fused);
  Schedule& reorder(const std::vector<IndexVar>& order);
  Schedule& rotate(const IndexVar& target, const std::vector<IndexVar>& by, const IndexVar& result);
  Schedule& distribute(const IndexVar& variable);
  Schedule& distribute(const std::vector<IndexVar>& variables);
  Schedule& distribute(const std::vector<IndexVar>& variables, const Onto& onto);
  Schedule& distribute(const std::vector<IndexVar>& targets, const std::vector<IndexVar>& distributed,
                       const std::vector<IndexVar>& local, const Onto& onto);
  Schedule& communicate(const TensorHandle& tensor, const IndexVar& at);
  Schedule& communicate(const std::vector<TensorHandle>& tensors, const IndexVar& at);
  Schedule& substitute(const std::vector<IndexVar>& variables, const LeafKernelName& kernel);
  Schedule& parallelize(const IndexVar& variable, OutputRace race = OutputRace::None);
  Schedule& unroll(const IndexVar& variable, const Int& factor);
  Schedule& vectorize(const IndexVar& variable);
  // Computes a part of the right side first, into a workspace of each processor's own, or into a tensor, which has a
  // home of its own.
  Schedule& precompute(const Expr& part, const std::vector<IndexVar>& variables, const std::vector<IndexVar>& copies,
                       const std::string& workspace);
  Schedule& precompute(const Expr& part, const std::vector<IndexVar>& variables, const std::vector<IndexVar>& copies,
                       const TensorHandle& workspace);
  // Applies a schedule of the user's own: a function that takes the schedule, and what it needs besides.
  template <class Compound, class... Arguments>
  Schedule& apply(Compound&& compound, Arguments&&... arguments) {
    std::forward<Compound>(compound)(*this, std::forward<Arguments>(arguments)...);
    return *this;
  }

 private:
  friend struct TensorState;
  friend class TensorHandle;
  explicit Schedule(TensorState* tensor) : tensor_(tensor) {}
  TensorState* tensor_;
};

}  // namespace distal
