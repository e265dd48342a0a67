#pragma once

#include <mpi.h>

namespace distal {

// The communicator, if DISTAL can use it: MPI is initialised, for more than one thread, and this process is in it.
// Throws an Error otherwise.
MPI_Comm checked(MPI_Comm communicator);

}  // namespace distal
