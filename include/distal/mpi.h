#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "distal/kernel.h"

namespace distal {

// A kernel on the ranks of a communicator. Every rank makes one from the same statements and calls its members together
// with the others. From then on a rank has the pieces of its own processors only: bind buffers to them, or fill the
// memory that they are given, which the ranks of a node share; at() knows no others, and set() leaves them alone.
// Pieces that were filled before are kept, in memory that is this rank's alone. MPI must have been initialised with
// MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE, as a thread of the library drives messages while others compute; the
// application's threads leave MPI alone during a run. Link distal::distal_mpi.
class MpiKernel {
 public:
  // Ranks take consecutive processors; where there are more ranks than processors, the last ranks have none.
  MpiKernel(const Kernel& kernel, MPI_Comm communicator);

  // The processors of this rank, under the current values of the params. After a param that changes a machine this, or
  // a run, comes before anything that asks for pieces.
  std::vector<int64_t> processors() const;

  // Runs under the current values of the params on the current data of the tensors. The counts are those of all ranks,
  // the time is the slowest rank's. Ranks whose statements, params or options differ are all refused, and so are they
  // if one has a buffer that cannot be used, or if their pieces and what the run needs besides are more than a machine
  // has. Whatever else goes wrong on a rank, such as a leaf that fails, ends the job with its reason.
  RunReport run(const RunOptions& options = {});

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace distal
