#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distal/format.h"
#include "distal/index.h"
#include "distal/machine.h"
#include "distal/param.h"

namespace distal {

class TensorHandle;
struct TensorState;

// A kernel that can stand in for the innermost loops.
struct LeafKernelName {
  std::string name;  // as in a .distal file
};
// The kernels of BLAS.
struct BLAS {
  inline static const LeafKernelName GeMM{"gemm"};                 // matrix multiplication
  inline static const LeafKernelName GeMV{"gemv"};                 // matrix times vector
  inline static const LeafKernelName GeR{"ger"};                   // an outer product that is added
  inline static const LeafKernelName Dot{"dot"};                   // inner product
  inline static const LeafKernelName AXPY{"axpy"};                 // a multiple of a vector that is added
  inline static const LeafKernelName SyRK{"syrk"};                 // a matrix times its transpose
  inline static const LeafKernelName BatchedGeMM{"batched_gemm"};  // a matrix multiplication for each index of a batch
};

// How the threads of a parallel loop add to one element of the output.
enum class OutputRace {
  None,       // they do not: the loop indexes the output
  Reduction,  // each sums for itself, and the sums are added at the end of the loop
  Atomics,    // every addition is atomic
};

// What distribute goes onto: a machine of one level, a level of a machine, a grid in place, or a tensor whose
// distribution is followed. With roles, the targets go onto a machine, a level or a grid as the dimensions of a tensor
// would: Onto(m, {1, 0, Face{2}}) cuts target 1 over the first dimension and target 0 over the second, at one face of
// the third.
class Onto {
 public:
  Onto(const Machine& machine);       // NOLINT: a machine of one level, implicitly so that every form reads the same
  Onto(const Machine::Level& level);  // NOLINT: a level, as cube[1]
  Onto(const Grid& grid);             // NOLINT: a grid in place
  Onto(const TensorHandle& tensor);   // NOLINT: where that tensor lives
  // Where that tensor lives at one level of its machine.
  Onto(const TensorHandle& tensor, int level);
  // By notation: one role a dimension of the grid.
  Onto(const Onto& grid, std::vector<Role> roles);
  // Deals blocks of `block` iterations of a target out in turn; for a target that has a role.
  Onto& cyclic(int target, const Int& block = Int(1));

  struct Target;                                     // for the library
  const Target& target() const { return *target_; }  // for the library

 private:
  std::shared_ptr<Target> target_;
};

// The schedule of a statement, built command by command. docs/language.md says what each command does. Commands are
// checked when the kernel is compiled.
class Schedule {
 public:
  // Cuts a loop into chunks of `size`: outer runs over chunks, inner within one.
  Schedule& split(const IndexVar& target, const IndexVar& outer, const IndexVar& inner, const Int& size);
  // Cuts a loop into `parts` equal ones: outer runs over parts, inner within one.
  Schedule& divide(const IndexVar& target, const IndexVar& outer, const IndexVar& inner, const Int& parts);
  // Makes one loop of two that are nested directly.
  Schedule& collapse(const IndexVar& outer, const IndexVar& inner, const IndexVar& fused);
  // Puts the named loops into this order, in the places that they have together.
  Schedule& reorder(const std::vector<IndexVar>& order);
  // Lets each iteration of the loops `by` begin elsewhere, so that neighbours do not ask for the same at once.
  Schedule& rotate(const IndexVar& target, const std::vector<IndexVar>& by, const IndexVar& result);
  // Runs the iterations of a loop on different processors.
  Schedule& distribute(const IndexVar& variable);
  // The same for several loops, onto the machine's dimensions in their order.
  Schedule& distribute(const std::vector<IndexVar>& variables);
  // The same, onto what is named.
  Schedule& distribute(const std::vector<IndexVar>& variables, const Onto& onto);
  // Divides the targets by the extents of the grid, moves the outer loops to the top and distributes them.
  Schedule& distribute(const std::vector<IndexVar>& targets, const std::vector<IndexVar>& distributed,
                       const std::vector<IndexVar>& local, const Onto& onto);
  // Fetches what an iteration of the loop `at` needs of a tensor when that iteration begins.
  Schedule& communicate(const TensorHandle& tensor, const IndexVar& at);
  // The same for several tensors.
  Schedule& communicate(const std::vector<TensorHandle>& tensors, const IndexVar& at);
  // Lets a kernel do these innermost loops.
  Schedule& substitute(const std::vector<IndexVar>& variables, const LeafKernelName& kernel);
  // Shares the iterations of a loop of the leaf out to threads. Where they add to one element, `race` says how.
  Schedule& parallelize(const IndexVar& variable, OutputRace race = OutputRace::None);
  // Writes `factor` iterations of a loop of the leaf one after another, without tests in between.
  Schedule& unroll(const IndexVar& variable, const Int& factor);
  // Computes several iterations of the innermost loop at once.
  Schedule& vectorize(const IndexVar& variable);
  // Computes a part of the right side first, into a workspace of each processor's own. The loops `variables` run again
  // for it, by the names `copies`.
  Schedule& precompute(const Expr& part, const std::vector<IndexVar>& variables, const std::vector<IndexVar>& copies,
                       const std::string& workspace);
  // The same into a tensor, which has a home of its own: the part becomes a statement before this one.
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
