#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distal/kernel.h"

namespace distal {

// A kernel on the ranks of a communicator. Every rank makes one from the same statements. The constructor and all
// members are collective. Once an MpiKernel exists, a rank has only the pieces of its own processors: bind buffers to
// them, or fill the memory that DISTAL allocates for them, which the ranks of a node share. at() throws for elements of
// other ranks, and set() skips them. Pieces that were filled before keep their data, in private memory of this rank.
// Initialise MPI with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE: a thread of the library drives messages while other
// threads compute. During a run the application's threads must not call MPI. Link distal::distal_mpi.
class MpiKernel {
 public:
  // Gives each rank consecutive processors. With more ranks than processors, the last ranks have none.
  MpiKernel(const Kernel& kernel, MPI_Comm communicator);
  // Compiles the statements that define these tensors. What they leave out is found by the first rank, for all. If the
  // `progress` of this rank is cancelled meanwhile, all ranks throw Interrupted.
  MpiKernel(const std::vector<TensorHandle>& defined, MPI_Comm communicator,
            const FindOptions& find = {.engine = "mpi"});

  // The processors of this rank, for the current values of the params. After a change of a param that changes a
  // machine, call this or run() before you ask for pieces.
  std::vector<int64_t> processors() const;

  // Runs with the current values of the params on the current data of the tensors. Counts are totals over all ranks;
  // the time is that of the slowest rank. All ranks throw the same Error if their statements, params or options differ,
  // if one rank has a buffer that cannot be used, or if a machine has too little memory. If the run is cancelled on one
  // rank or several, these skip the leaves that are left, and all ranks throw Interrupted when everything that the
  // ranks bring each other has arrived. Any other failure on a rank, such as a leaf that fails, prints its reason and
  // ends the job.
  RunReport run(const RunOptions& options = {});

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Reads a tensor from a NumPy file on all ranks of a communicator: each rank reads the elements of the pieces that it
// has. Collective: all ranks throw the same Error if one cannot.
void load(const TensorHandle& tensor, const std::string& npy_file, MPI_Comm communicator);
// Writes a tensor that an MpiKernel has spread over the ranks of a communicator to one NumPy file: each rank writes the
// elements that it owns, and the first owner those of which there are several. Collective. A file of that name stays as
// it is if one rank fails, and then all throw the same Error.
void save(const TensorHandle& tensor, const std::string& npy_file, MPI_Comm communicator);

}  // namespace distal
