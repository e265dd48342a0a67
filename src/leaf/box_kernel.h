#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "leaf/box.h"

namespace distal::core {

class Team;

// Computes the terms of a box. Several threads may run it at once, each with its part of the box.
class BoxKernel {
 public:
  virtual ~BoxKernel() = default;
  // Whether this kernel can compute the box and is a good choice for it.
  virtual bool takes(const Box& box) const = 0;
  // Overwrites the output, or adds to it.
  virtual void run(const Box& box, bool overwrite) const = 0;
  // Whether two boxes that add to the same output can run as one box with a longer sum. All boxes that can join one box
  // can be joined to it together, in any order, and so can their parts if each is cut in the same way.
  virtual bool can_join(const Box& /*box*/, const Box& /*next*/) const { return false; }
  // Runs joined boxes. Only the first one overwrites the output.
  virtual void run_joined(std::span<const Box> boxes, bool overwrite) const {
    for (const Box& box : boxes) run(box, overwrite && &box == boxes.data());
  }
  // For kernels that divide a box better than along one axis: runs the box on the threads of the team, or on the
  // caller's if there is no team. Returns false and does nothing in other kernels.
  virtual bool run_by_team(const Box&, bool /*overwrite*/, Team* /*team*/) const { return false; }
  // Compiles the code or loads the library that such a box needs, so that a run need not wait for it.
  virtual void prepare(const Box&) const {}
  // The generated C++ that such a box uses; empty if the kernel generates none.
  virtual std::string source(const Box&) const { return ""; }
  virtual bool is_library() const { return false; }
  virtual std::string description() const = 0;
  // Says in words how the kernel computes such a box. `operands` are their names.
  virtual std::string explain(const Box& box, const std::vector<std::string>& operands) const = 0;
};

// Kernels to choose from, the best first.
using BoxKernels = std::vector<std::unique_ptr<BoxKernel>>;
// The first kernel that takes the box; null if none does.
inline const BoxKernel* kernel_for(const BoxKernels& kernels, const Box& box) {
  auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k->takes(box); });
  return found == kernels.end() ? nullptr : found->get();
}

}  // namespace distal::core
