#include "api/mpi/communicator.h"

#include "distal/error.h"

namespace distal {

namespace {

void require_initialised() {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (initialised && !finalised) return;
  throw Error(finalised ? "MPI was finalised" : "MPI was not initialised", {},
              "an MpiKernel is made and run between MPI_Init_thread and MPI_Finalize");
}

void require_threads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_SERIALIZED) return;
  throw Error("MPI was initialised for one thread, and DISTAL has another one that drives messages", {},
              "call MPI_Init_thread with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE", Error::Kind::Resources);
}

}  // namespace

MPI_Comm checked(MPI_Comm communicator) {
  require_initialised();
  require_threads();
  if (communicator == MPI_COMM_NULL) {
    throw Error("a kernel is to run on no communicator (MPI_COMM_NULL)", {},
                "a process that is not in a communicator takes no part in what is done on it");
  }
  return communicator;
}

}  // namespace distal
