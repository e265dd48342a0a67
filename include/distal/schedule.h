#pragma once

#include <memory>
#include <string>
#include <vector>

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
  inline static const LeafKernelName GeMM{"gemm"};  // matrix multiplication
};

// What distribute goes onto: a machine of one level, a level of a machine, a grid in place, or a tensor whose
// distribution is followed.
class Onto {
 public:
  Onto(const Machine& machine);       // NOLINT: a machine of one level, implicitly so that every form reads the same
  Onto(const Machine::Level& level);  // NOLINT: a level, as cube[1]
  Onto(const Grid& grid);             // NOLINT: a grid in place
  Onto(const TensorHandle& tensor);   // NOLINT: where that tensor lives

  struct Target;                                     // for the library
  const Target& target() const { return *target_; }  // for the library

 private:
  std::shared_ptr<const Target> target_;
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
  // Shares the iterations of a loop of the leaf out to threads.
  Schedule& parallelize(const IndexVar& variable);

 private:
  friend struct TensorState;
  friend class TensorHandle;
  explicit Schedule(TensorState* tensor) : tensor_(tensor) {}
  TensorState* tensor_;
};

}  // namespace distal
