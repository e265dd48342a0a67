#include "api/mpi/communicator.h"
#include "api/state.h"
#include "data/npy_writer.h"
#include "distal/mpi.h"
#include "engine/mpi/agreement.h"
#include "store/slabs.h"

namespace distal {

namespace {

// A file that all ranks of a communicator read or write together.
class SharedFile {
 public:
  explicit SharedFile(MPI_Comm communicator) : cluster_(checked(communicator), core::may_share()) {}

  void load(TensorHandle tensor, const std::string& file) const {
    core::agree_on_error(cluster_, [&] { tensor.load(file); });
  }

  void save(const TensorHandle& tensor, const std::string& file) const {
    TensorState& state = *tensor.state();
    core::TensorPieces* pieces = nullptr;
    core::agree_on_error(cluster_, [&] { pieces = &state.pieces(); });
    // If every rank has the whole tensor, as before it was spread, the first one writes it.
    bool writes = !core::all_true(cluster_.all(), state.is_whole()) || cluster_.rank() == 0;
    core::write_npy(file, pieces->type(), tensor.shape(), core::ClusterGroup(cluster_),
                    [&](const core::WriteNpyRect& write) {
                      if (writes) core::save_pieces(*pieces, write);
                    });
  }

 private:
  core::Cluster cluster_;
};

}  // namespace

void load(const TensorHandle& tensor, const std::string& npy_file, MPI_Comm communicator) {
  SharedFile(communicator).load(tensor, npy_file);
}

void save(const TensorHandle& tensor, const std::string& npy_file, MPI_Comm communicator) {
  SharedFile(communicator).save(tensor, npy_file);
}

}  // namespace distal
