#pragma once

#include <string>

#include "engine/legion/emit.h"

namespace distal::core {

// The namespace of one program: its params, grids and tensors, and its statements with their leaves and checks.
std::string write_legion_program(const LegionSource& source);

// Whether a program has a machine of GPUs, and whether any of its leaves run on CPUs.
bool uses_gpus(const LegionSource& source);
bool uses_cpus(const LegionSource& source);

// The name of the function that starts a leaf's kernel on a GPU; empty for a leaf on CPUs.
std::string gpu_name(const LegionSource& source, size_t statement);

// The name of the function with the loops of a statement's leaf; empty if only DISTAL's library can run the leaf, and
// for a leaf on GPUs.
std::string nest_name(const LegionSource& source, size_t statement);

// The source of that function.
std::string write_nest(const LegionSource& source, size_t statement);

}  // namespace distal::core
