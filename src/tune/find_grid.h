#pragma once

#include "tune/find.h"

namespace distal::core {

// The processors without a grid onto which a given schedule distributes two loops or more: to it they are a grid of as
// many dimensions, which is found. Nothing if there are none. One loop takes them as a line.
std::optional<Machine> machine_without_grid(const Module& module, const ScheduledStatement& scheduled);

// Finds that grid, and gives it to the machine: of all grids of which at most a tenth of the processors idle, the one
// whose tiles cost least if no loop is sequential.
void find_grid(Module& module, const ScheduledStatement& scheduled, const Bindings& params, const FindOptions& options);

// Gives a machine without a grid these levels. Formats that were given for the machine stay on a line of its
// processors.
// Returns the machine.
Machine give_grid(Module& module, const Machine& free, const std::vector<Grid>& levels);

// Whether a schedule takes the processors of a machine without a grid as a line.
bool takes_as_line(const Module& module, const Machine& machine);

}  // namespace distal::core
