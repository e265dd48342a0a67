#pragma once

#include "cli/options.h"

namespace distal::core {

// Runs the command line on the ranks of this job and returns the exit status. All ranks must have the same command
// line. An error on one rank only ends the job.
int main_of_ranks(int argc, const char* const* argv);

}  // namespace distal::core
