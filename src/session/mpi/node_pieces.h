#pragma once

#include <memory>
#include <vector>

#include "engine/mpi/window.h"
#include "plan/plan.h"
#include "store/tensor_pieces.h"
#include "support/team.h"

namespace distal::core {

// The pieces of a tensor that a rank has.
struct HeldTensor {
  std::shared_ptr<TensorPieces> pieces;
  std::shared_ptr<SharedMemory> memory;  // in which they lie one after the other; null if some lie elsewhere
};

// The pieces of a plan's tensors that a rank can access: its own, and those of the other ranks of its node if that is
// possible for all tensors that move. Pieces in DISTAL's memory are shared in place. A caller's buffers are private to
// their process. If the whole tensor moves inside the node anyway, a run begins with one copy of them that the ranks
// of the node share, instead of a copy for each neighbour.
class NodePieces {
 public:
  // `ranks` has the rank of each processor.
  NodePieces(const Plan& plan, const Cluster& cluster, const std::vector<int>& ranks)
      : plan_(plan), cluster_(cluster), ranks_(ranks) {}

  // Takes the current pieces of this rank, by tensor. All ranks of the node call this before each run. If only the
  // caller's private buffers have changed, nothing is opened anew.
  void update(const std::vector<HeldTensor>& tensors);

  bool are_shared() const { return window_ != nullptr; }
  // By tensor, as update found them.
  const std::vector<std::shared_ptr<TensorPieces>>& pieces() const { return pieces_; }
  // Copies this rank's buffers into the shared copies, before a run. Returns the number of bytes.
  int64_t copy(int threads);
  // Releases the pieces between runs, so that a tensor that gets other pieces can free the old ones.
  void let_go();
  // Unmaps the memory of the other ranks.
  void close();

 private:
  // How the ranks of a node access each other's pieces of a tensor.
  enum class Way { Shared, Copied, NotAtAll };
  struct Seen {
    Way way = Way::NotAtAll;
    std::shared_ptr<TensorPieces> pieces;  // of the whole node; null where each rank has its own only
  };

  bool choose_ways();
  void open();
  PieceOffsets offsets_of(const TensorPieces& pieces, int rank) const;
  std::shared_ptr<TensorPieces> of_node(const TensorPieces& own, size_t number) const;

  const Plan& plan_;
  const Cluster& cluster_;
  const std::vector<int>& ranks_;
  // What the window was opened for.
  std::vector<std::shared_ptr<SharedMemory>> lies_in_;  // this rank's pieces, by tensor; null: elsewhere
  std::unique_ptr<Window> window_;
  std::vector<Seen> seen_;                                   // by tensor
  std::vector<std::shared_ptr<TensorPieces>> own_, pieces_;  // by tensor, while it runs
  std::unique_ptr<Team> team_;
};

}  // namespace distal::core
