#pragma once

#include <string>

#include "program/program.h"

namespace distal::core {

// The CUDA source of a leaf whose loops do not run over a box: one thread for each point of the output's loops. Its
// function takes the extents and the values of all variables.
std::string gpu_nest_source(const Stage& stage, ElementType type, const std::string& function);

}  // namespace distal::core
