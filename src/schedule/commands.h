#pragma once

#include "schedule/command_row.h"

namespace distal::core {

// The rows of the commands, each in a file of its name.
CommandRow split_command();
CommandRow divide_command();
CommandRow collapse_command();
CommandRow reorder_command();
CommandRow distribute_command();       // loops that exist
CommandRow distribute_onto_command();  // the compound form
CommandRow communicate_command();
CommandRow rotate_command();
CommandRow substitute_command();
CommandRow parallelize_command();
CommandRow unroll_command();
CommandRow vectorize_command();
CommandRow precompute_command();

const CommandRow& row_of(const Command& command);

}  // namespace distal::core
