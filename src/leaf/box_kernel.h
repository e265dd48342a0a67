#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "leaf/box.h"

namespace distal::core {

class Team;

enum class BoxKernelKind {
  Symmetric,       // a matrix times its transpose: one half by BLAS, the other mirrored
  BlasForLarge,    // BLAS, but not for thin or small matrices: for small ones register blocks are some percent faster
  BlasUnlessThin,  // BLAS, but not for thin matrices: register blocks are much faster
  Blas,            // BLAS wherever it takes the strides
  RegisterBlocks,
  OnePass,
  PlainLoops,  // for products of two that BLAS does not take, where nothing may be compiled
};
std::string to_string(BoxKernelKind kind);

// Computes the terms of a box. Several threads may run it at once, each with its part of the box.
class BoxKernel {
 public:
  virtual ~BoxKernel() = default;
  // Whether this kernel can compute the box and is a good choice for it.
  virtual bool takes(const BoxShape& box) const = 0;
  // Overwrites the output, or adds to it.
  virtual void run(const Box& box, bool overwrite) const = 0;
  // Whether two boxes that add to the same output can run as one box with a longer sum. All boxes that can join one box
  // can be joined to it together, in any order, and so can their parts if each is cut in the same way.
  virtual bool can_join(const Box& /*box*/, const Box& /*next*/) const { return false; }
  // Whether boxes of this shape can join, and run faster if they do.
  virtual bool gains_from_joining(const BoxShape& /*box*/) const { return false; }
  // Runs joined boxes. Only the first one overwrites the output.
  virtual void run_joined(std::span<const Box> boxes, bool overwrite) const {
    for (const Box& box : boxes) run(box, overwrite && &box == boxes.data());
  }
  // For kernels that divide a box better than along one axis: runs the box on the threads of the team, or on the
  // caller's if there is no team. Returns false and does nothing in other kernels.
  virtual bool run_by_team(const Box&, bool /*overwrite*/, Team* /*team*/) const { return false; }
  // Compiles the code or loads the library that such a box needs, so that a run need not wait for it.
  virtual void prepare(const BoxShape&) const {}
  // The generated C++ that such a box uses; empty if the kernel generates none.
  virtual std::string source(const BoxShape&) const { return ""; }
  virtual bool is_library() const { return false; }
  virtual std::string description() const = 0;
  // Says in words how the kernel computes such a box. `operands` are their names.
  virtual std::string explain(const BoxShape& box, const std::vector<std::string>& operands) const = 0;
};

// Null if the kernel cannot compute these terms, whatever their strides.
std::unique_ptr<BoxKernel> make_box_kernel(BoxKernelKind kind, const std::vector<LeafTerm>& terms, ElementType type,
                                           bool accumulate);

// Kernels to choose from, the best first.
using BoxKernels = std::vector<std::unique_ptr<BoxKernel>>;
// The first kernel that takes the box; null if none does.
inline const BoxKernel* kernel_for(const BoxKernels& kernels, const BoxShape& box) {
  auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k->takes(box); });
  return found == kernels.end() ? nullptr : found->get();
}

}  // namespace distal::core
