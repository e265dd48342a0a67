#pragma once

#include <string>

#include "program/program.h"

namespace distal::core {

// The CUDA of a leaf: a function that starts its kernel. What it takes are the ranges of the leaf's indices, where it
// runs over a box, or else the extents and the values of all variables.
std::string write_gpu_kernel(const Module& module, const Stage& stage, const std::string& function);

}  // namespace distal::core
