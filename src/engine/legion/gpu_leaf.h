#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/bounds.h"
#include "program/program.h"

namespace distal::core {

// Whether a machine's leaves run on GPUs: the processors of its last level do.
bool has_gpus(const Machine& machine);

// The indices of a leaf, and the values that each takes while all else stands still: the leaf runs over all of their
// combinations, and where a range is empty over nothing.
struct LeafBox {
  std::vector<int> indices;
  std::vector<Interval<IntExpr>> ranges;  // by index

  size_t position(int index) const;
};

// Nothing where the loops of the leaf do not run over a box at every size and on every processor.
std::optional<LeafBox> leaf_box(const Stage& stage);

// The factor of a leaf that adds the product of two matrices, or of several pairs of them; nothing for other leaves.
std::optional<double> gemm_factor(const Compute& compute, const LeafBox& box, ElementType type);

// The assignment that a GPU runs; refuses what it cannot.
const Compute& gpu_compute(const Stage& stage);

}  // namespace distal::core
