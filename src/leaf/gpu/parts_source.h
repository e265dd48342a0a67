#pragma once

#include <string>

#include "program/program.h"

namespace distal::core {

// The CUDA source of a leaf with workspaces. A block of threads carries out an iteration of the loops around the
// workspaces that select elements of the output, one part after the other; its threads share the loops of each part.
// The function takes the extents and the values of all variables.
std::string gpu_parts_source(const Stage& stage, ElementType type, const std::string& function);

}  // namespace distal::core
