#pragma once

#include <string>

#include "engine/legion/emit.h"

namespace distal::core {

// The namespace of one program: its params, grids and tensors, its statements with their leaves and checks.
std::string write_legion_program(const LegionSource& source);

// The name of the function that a statement's leaf is, where it is emitted as loops; empty where only DISTAL's library
// can run it.
std::string nest_name(const LegionSource& source, size_t statement);

// That function.
std::string write_nest(const LegionSource& source, size_t statement);

}  // namespace distal::core
