#pragma once

#include "cli/options.h"

namespace distal::core {

// Runs a program on the ranks of this job; the exit status, the same on all. A rank that fails alone ends the job.
int run_on_mpi(const CliOptions& options);

}  // namespace distal::core
