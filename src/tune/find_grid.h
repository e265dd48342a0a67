#pragma once

#include "tune/find.h"

namespace distal::core {

// Gives a machine without a grid these levels. Formats that were given for the machine stay on a line of its
// processors.
// Returns the machine.
Machine give_grid(Module& module, const Machine& free, const std::vector<Grid>& levels);

// Whether a schedule takes the processors of a machine without a grid as a line.
bool takes_as_line(const Module& module, const Machine& machine);

}  // namespace distal::core
