#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "distal/kernel.h"

namespace distal {

// A kernel on the ranks of a communicator. Every rank makes one from the same statements and calls its members together
// with the others. From then on a rank has the pieces of its own processors only: bind buffers to them, or fill the
// memory that they are given, which the ranks of a node share; at() knows no others, and set() leaves them alone. MPI
// must have been initialised with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE, as a thread of the library drives
// messages while others compute. It is the only one to call MPI during a run. Link distal::distal_mpi.
class MpiKernel {
 public:
  // Ranks take consecutive processors; where there are more ranks than processors, the last ranks have none.
  MpiKernel(const Kernel& kernel, MPI_Comm communicator);

  // The processors of this rank, under the current values of the params.
  std::vector<int64_t> processors() const;

  // Runs under the current values of the params on the current data of the tensors. The counts are those of all ranks,
  // the time is the slowest rank's. Ranks whose statements or params differ are all refused. Any other exception on one
  // rank leaves the others waiting: let it end the job.
  RunReport run(const RunOptions& options = {});

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace distal
