#pragma once

#include <memory>
#include <vector>

#include "api/prepared.h"
#include "engine/mpi/window.h"
#include "support/team.h"

namespace distal {

// The pieces of a kernel's tensors that a rank can touch: its own, and those of the other ranks of its node, where that
// can be had for all tensors that move. Pieces in memory of DISTAL's are shared where they lie. Buffers of a caller's
// are their process's alone; if all of a tensor moves anyway, a run begins with a copy of them that the node shares:
// one in place of one for each neighbour.
class NodePieces {
 public:
  explicit NodePieces(const core::Cluster& cluster) : cluster_(cluster) {}

  // What the next runs are of; what others had is given back, before there are other pieces.
  void prepare_for(const std::shared_ptr<const Prepared>& prepared);
  // Looks where the pieces are now; `ranks` has the rank of each processor. All ranks of the node call this, before
  // each run. Other buffers of the caller's cost nothing.
  void update(const std::vector<std::shared_ptr<TensorState>>& tensors, const std::vector<int>& ranks);

  bool are_shared() const { return window_ != nullptr; }
  // By tensor, as update found them.
  const std::vector<std::shared_ptr<core::TensorPieces>>& pieces() const { return pieces_; }
  // Makes the copies, before a run, and says how many bytes of this rank's they are.
  int64_t copy(int threads);
  // Between runs a tensor may get other pieces, and those that it had are then to go.
  void let_go();

 private:
  // How the ranks of a node come by each other's pieces of a tensor.
  enum class Way { Shared, Copied, NotAtAll };
  struct Seen {
    Way way = Way::NotAtAll;
    std::shared_ptr<core::TensorPieces> pieces;  // of the whole node; null where each rank has its own only
  };

  bool choose_ways(const std::vector<int>& ranks);
  void open(const std::vector<int>& ranks);
  std::shared_ptr<core::TensorPieces> of_node(const core::TensorPieces& own, const std::vector<int>& ranks,
                                              size_t number) const;

  const core::Cluster& cluster_;
  // What the window was opened for.
  std::shared_ptr<const Prepared> prepared_;
  std::vector<std::shared_ptr<core::SharedMemory>> lies_in_;  // this rank's pieces, by tensor; null: elsewhere
  std::unique_ptr<core::Window> window_;
  std::vector<Seen> seen_;                                         // by tensor
  std::vector<std::shared_ptr<core::TensorPieces>> own_, pieces_;  // by tensor, while it runs
  std::unique_ptr<core::Team> team_;
};

}  // namespace distal
