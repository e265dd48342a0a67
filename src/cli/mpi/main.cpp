#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "cli/mpi/run.h"

namespace {

// Over TCP, Open MPI's `put` sends a large message as one piece, and what it must say about those of the other
// direction waits behind it, so that a link carries one direction at a time. Without it, both get the whole rate.
void prefer_full_duplex() { setenv("OMPI_MCA_btl_tcp_flags", "send,inplace,need-ack,need-csum,hetero-rdma", 0); }

}  // namespace

int main(int argc, char** argv) {
  prefer_full_duplex();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  if (provided < MPI_THREAD_SERIALIZED) {
    std::fputs("error: this MPI lets one thread call it alone, and DISTAL has another one that drives messages\n",
               stderr);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  int status = distal::core::main_of_ranks(argc, argv);
  MPI_Finalize();
  return status;
}
