#include <mpi.h>

#include "cli/mpi/run.h"

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  int status = distal::core::main_command(argc, argv, distal::core::run_on_mpi);
  MPI_Finalize();
  return status;
}
