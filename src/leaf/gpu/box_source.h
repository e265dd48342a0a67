#pragma once

#include <string>

#include "leaf/gpu/gpu_leaf.h"

namespace distal::core {

// The CUDA source of a leaf that runs over a box: what is computed at a point, for the kernels of sums.h, and a call of
// cuBLAS for a product of matrices. Its function takes the ranges of the box's indices.
std::string gpu_box_source(const Stage& stage, ElementType type, const StorageOrders& orders,
                           const std::string& function);

}  // namespace distal::core
