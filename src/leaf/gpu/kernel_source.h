#pragma once

#include <string>
#include <vector>

#include "program/program.h"

namespace distal::core {

// The CUDA source of a leaf: its kernel and a function that starts it. The function takes the ranges of the leaf's
// indices if the leaf runs over a box, else the extents and the values of all variables. `output_order` is the storage
// order of the output: its last dimension should be contiguous in memory.
std::string gpu_kernel_source(const Stage& stage, ElementType type, const std::vector<int>& output_order,
                              const std::string& function);

}  // namespace distal::core
