#pragma once

#include <optional>
#include <vector>

#include "leaf/gpu/gpu_leaf.h"

namespace distal::core {

// A product of several tensors in two steps: a product of matrices of two of them, then a kernel that multiplies the
// result with the others and adds. The result has fewer points than the leaf.
struct GpuSteps {
  size_t left = 0, right = 0;        // the operands of the product of matrices
  std::vector<int> product_indices;  // its indices, outermost first; the first one is divided into steps
  Compute rest;                      // the kernel: operand 1 is the product of matrices
  StorageOrders rest_orders;
  std::vector<int> rest_operands;  // the operands of the leaf; -1 for the product
  double scale = 1;
};

// Nothing unless the leaf is a product of at least three tensors, two of which have an index of a sum to themselves.
std::optional<GpuSteps> choose_gpu_steps(const Compute& compute, const StorageOrders& orders, ElementType type);

}  // namespace distal::core
