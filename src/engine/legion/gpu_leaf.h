#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/bounds.h"
#include "program/program.h"

namespace distal::core {

// Whether a machine's leaves run on GPUs: the processors of its last level do.
bool has_gpus(const Machine& machine);

// The indices of a leaf and the range of each in one run. The leaf runs over all combinations of their values.
struct LeafBox {
  std::vector<int> indices;
  std::vector<Interval<IntExpr>> ranges;  // by index

  size_t position(int index) const;
};

// The box of a stage's leaf; nothing if its loops do not run over a box for every size and processor.
std::optional<LeafBox> leaf_box(const Stage& stage);

// The scale of a leaf that adds a matrix product or a batch of them; nothing for other leaves.
std::optional<double> gemm_factor(const Compute& compute, const LeafBox& box, ElementType type);

// The assignment that a GPU runs. Throws if the leaf has workspaces.
const Compute& gpu_compute(const Stage& stage);

}  // namespace distal::core
