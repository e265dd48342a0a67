#pragma once

#include "cli/options.h"

namespace distal::core {

// Runs `distal-mpi` by mpirun on the ranks that the options ask for, and returns the exit status. If this process is an
// MPI rank already, replaces it by `distal-mpi`. Throws an Error if it cannot start the program.
int start_on_mpi(const CliOptions& options);

// Throws an Error if an MPI launcher has started several of this process. Each would do the same work.
void require_single_process();

}  // namespace distal::core
