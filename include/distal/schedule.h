#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distal/format.h"
#include "distal/index.h"
#include "distal/kinds.h"
#include "distal/machine.h"
#include "distal/param.h"

namespace distal {

class TensorHandle;
struct TensorState;

// The name of a kernel that can replace the innermost loops.
struct LeafKernelName {
  std::string name;  // as in a .distal file
};
// The kernels of BLAS.
struct BLAS {
  inline static const LeafKernelName GeMM{"gemm"};                 // matrix times matrix
  inline static const LeafKernelName GeMV{"gemv"};                 // matrix times vector
  inline static const LeafKernelName GeR{"ger"};                   // adds an outer product to a matrix
  inline static const LeafKernelName Dot{"dot"};                   // inner product
  inline static const LeafKernelName AXPY{"axpy"};                 // adds a multiple of a vector to a vector
  inline static const LeafKernelName SyRK{"syrk"};                 // matrix times its own transpose
  inline static const LeafKernelName BatchedGeMM{"batched_gemm"};  // one matrix multiplication per batch index
};

// What a distribute command distributes onto: a machine of one level, a level of a machine, a grid, or a tensor whose
// distribution the loops follow. With roles, the targets are mapped to a machine, a level or a grid like the dimensions
// of a tensor: Onto(m, {1, 0, Face{2}}) cuts target 1 over the first dimension and target 0 over the second, and fixes
// the third at face 2.
class Onto {
 public:
  Onto(const Machine& machine);       // NOLINT: a machine of one level
  Onto(const Machine::Level& level);  // NOLINT: a level, such as cube[1]
  Onto(const Grid& grid);             // NOLINT: a grid that is not declared
  Onto(const TensorHandle& tensor);   // NOLINT: the distribution of a tensor
  // The distribution of a tensor at one level of its machine.
  Onto(const TensorHandle& tensor, int level);
  // With roles: one per dimension of the grid.
  Onto(const Onto& grid, std::vector<Role> roles);
  // Makes a target block-cyclic: blocks of `block` iterations go to the processors in turn. The target needs a role.
  Onto& cyclic(int target, const Int& block = Int(1));

  Onto(const Onto&) = default;             // also for std::move, so that no Onto is without a target
  Onto& operator=(const Onto&) = default;  // the same

  struct Target;                                     // for use by the library only
  const Target& target() const { return *target_; }  // for use by the library only

 private:
  std::shared_ptr<Target> target_;
};

// The schedule of a statement, built command by command. docs/language.md defines each command. Commands are checked
// when the kernel is compiled.
class Schedule {
 public:
  // Cuts a loop into chunks of `size` iterations: `outer` runs over the chunks, `inner` within one.
  Schedule& split(const IndexVar& target, const IndexVar& outer, const IndexVar& inner, const Int& size);
  // Cuts a loop into `parts` equal parts: `outer` runs over the parts, `inner` within one.
  Schedule& divide(const IndexVar& target, const IndexVar& outer, const IndexVar& inner, const Int& parts);
  // Fuses two directly nested loops into one.
  Schedule& collapse(const IndexVar& outer, const IndexVar& inner, const IndexVar& fused);
  // Permutes the named loops among the positions that they occupy.
  Schedule& reorder(const std::vector<IndexVar>& order);
  // Gives each iteration of the loops `by` another starting point in the loop `target`, so that neighbours do not need
  // the same data at the same step.
  Schedule& rotate(const IndexVar& target, const std::vector<IndexVar>& by, const IndexVar& result);
  // Runs the iterations of a loop on different processors.
  Schedule& distribute(const IndexVar& variable);
  // The same for several loops, which take the machine's dimensions in order.
  Schedule& distribute(const std::vector<IndexVar>& variables);
  // The same, onto the given machine, level or grid.
  Schedule& distribute(const std::vector<IndexVar>& variables, const Onto& onto);
  // Divides the targets by the extents of the grid, moves the outer loops to the top and distributes them.
  Schedule& distribute(const std::vector<IndexVar>& targets, const std::vector<IndexVar>& distributed,
                       const std::vector<IndexVar>& local, const Onto& onto);
  // Fetches the part of a tensor that an iteration of the loop `at` needs, at the start of that iteration.
  Schedule& communicate(const TensorHandle& tensor, const IndexVar& at);
  // The same for several tensors.
  Schedule& communicate(const std::vector<TensorHandle>& tensors, const IndexVar& at);
  // Replaces these innermost loops by a kernel.
  Schedule& substitute(const std::vector<IndexVar>& variables, const LeafKernelName& kernel);
  // Divides the iterations of a leaf loop among threads. If they add to the same element, `race` says how.
  Schedule& parallelize(const IndexVar& variable, OutputRace race = OutputRace::None);
  // Unrolls a leaf loop by `factor`.
  Schedule& unroll(const IndexVar& variable, const Int& factor);
  // Vectorizes a leaf loop.
  Schedule& vectorize(const IndexVar& variable);
  // Computes a part of the right side into a private workspace of each processor first. The producer repeats the loops
  // `variables`, under the names `copies`.
  Schedule& precompute(const Expr& part, const std::vector<IndexVar>& variables, const std::vector<IndexVar>& copies,
                       const std::string& workspace);
  // The same, into a tensor with a format of its own. The part becomes a statement that runs before this one.
  Schedule& precompute(const Expr& part, const std::vector<IndexVar>& variables, const std::vector<IndexVar>& copies,
                       const TensorHandle& workspace);
  // Applies a compound schedule: a function that takes the schedule and these arguments.
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
