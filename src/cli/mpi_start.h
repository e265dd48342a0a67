#pragma once

#include "cli/options.h"

namespace distal::core {

// Starts the program that is linked with MPI in place of this one: under mpirun with as many ranks as are asked for, or
// as it is, if this process is a rank of a job already. Returns only by an Error.
int start_on_mpi(const CliOptions& options);

// Refuses to be one of several processes that a starter of MPI has started: each would do the same work.
void require_alone();

}  // namespace distal::core
