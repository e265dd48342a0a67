#pragma once

#include <string>
#include <vector>

#include "leaf/gpu/gpu_leaf.h"

namespace distal::core {

// How a kernel runs over the box of a leaf. Indices are variables of the stage.
struct GpuBox {
  std::vector<int> indices;  // those of the output, then those of the sums
  size_t outputs = 0;        // how many are the output's
  size_t inner = 0;          // the position of the index along which neighbouring threads read neighbouring elements
  int reused = -1;  // the position of an index of the output that some operands do not have: a thread computes several
                    // of its values and loads these operands once; -1 if there is none

  bool adds_in_teams() const { return inner >= outputs; }
  int inner_index() const { return indices[inner]; }
  size_t position(int index) const;
};

// Chooses the index whose neighbours are neighbours in the memory of most operands.
GpuBox choose_gpu_box(const Compute& compute, const StorageOrders& orders);

// Whether an operand has an index.
bool has_index(const LeafOperand& operand, int index);

}  // namespace distal::core
