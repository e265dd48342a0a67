#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "leaf/box.h"

namespace distal::core {

class Team;

// One way to carry out the terms of a box. Safe to run from several threads at once, each with a part of the box.
class BoxKernel {
 public:
  virtual ~BoxKernel() = default;
  // Whether this box is one for it.
  virtual bool takes(const Box& box) const = 0;
  // To begin is to set the output, and not to add to it.
  virtual void run(const Box& box, bool begin) const = 0;
  // Whether a box that adds to the same output as one before it can be joined to that: both are then one, with a longer
  // sum. As many as can be joined to one can be joined in any order, and so can the same parts of the output of each.
  virtual bool joins(const Box& /*box*/, const Box& /*next*/) const { return false; }
  // Only the first begins.
  virtual void run_joined(std::span<const Box> boxes, bool begin) const {
    for (const Box& box : boxes) run(box, begin && &box == boxes.data());
  }
  // Runs it by the threads of a team, or alone without one, if it can cut the box better than along an axis.
  virtual bool run_by_team(const Box&, bool /*begin*/, Team* /*team*/) const { return false; }
  // Does beforehand what a run of such a box needs: compiles.
  virtual void prepare(const Box&) const {}
  // The C++ that a run of such a box uses; none if it has no code of its own.
  virtual std::string source(const Box&) const { return ""; }
  virtual bool is_library() const { return false; }
  virtual std::string description() const = 0;
  // In words, what it does with such a box; the operands by name.
  virtual std::string explain(const Box& box, const std::vector<std::string>& operands) const = 0;
};

// The kernels that may carry out something, the best first: the first that takes the box does; null if none does.
using BoxKernels = std::vector<std::unique_ptr<BoxKernel>>;
inline const BoxKernel* kernel_for(const BoxKernels& kernels, const Box& box) {
  auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k->takes(box); });
  return found == kernels.end() ? nullptr : found->get();
}

}  // namespace distal::core
