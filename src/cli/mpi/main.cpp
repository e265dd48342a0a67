#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "cli/interrupt.h"
#include "cli/mpi/run.h"

namespace {

// Over TCP, Open MPI's `put` protocol sends a large message in one piece. Control messages for the opposite direction
// queue behind it, so a link carries only one direction at a time. Without `put`, both directions get the full rate.
void prefer_full_duplex() { setenv("OMPI_MCA_btl_tcp_flags", "send,inplace,need-ack,need-csum,hetero-rdma", 0); }

}  // namespace

int main(int argc, char** argv) {
  prefer_full_duplex();
  distal::core::end_on_interrupt(false);  // the process that started the job says so
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  if (provided < MPI_THREAD_SERIALIZED) {
    std::fputs(
        "error: this MPI does not support MPI_THREAD_SERIALIZED, but DISTAL drives messages by a second thread\n",
        stderr);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  int status = distal::core::main_of_ranks(argc, argv);
  MPI_Finalize();
  return status;
}
