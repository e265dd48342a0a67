#pragma once

#include <string>

#include "program/program.h"

namespace distal::core {

// The CUDA source of a leaf: its kernel and a function that starts it. The function takes the ranges of the leaf's
// indices if the leaf runs over a box, else the extents and the values of all variables.
std::string write_gpu_kernel(const Module& module, const Stage& stage, const std::string& function);

}  // namespace distal::core
