#include "api/mpi/node_pieces.h"

#include <algorithm>

#include "plan/cost.h"

namespace distal {

namespace {

constexpr int64_t kPartBytes = 1 << 20;  // of a copy, for one thread

core::PieceOffsets offsets_of(const core::TensorPieces& pieces, const std::vector<int>& ranks, int rank) {
  return core::piece_offsets(pieces.owners(), pieces.type(),
                             [&](int64_t p) { return ranks[static_cast<size_t>(p)] == rank; });
}

bool is_written(const core::Plan& plan, size_t tensor) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [&](const core::StagePlan& s) { return s.output == static_cast<int>(tensor); });
}

// Says how many bytes it has.
int64_t copy_piece(core::Team& team, const core::TensorPieces& from, const core::TensorPieces& to, int64_t processor) {
  int64_t bytes = 0, size = core::size_of(from.type());
  for (const core::Rect& rect : from.owners().rects_of(processor)) {
    core::View source = from.view(processor, rect), target = to.view(processor, rect);
    std::vector<core::Rect> parts = core::cut_up(rect, kPartBytes / size);
    team.run([&](int thread) {
      for (auto i = static_cast<size_t>(thread); i < parts.size(); i += static_cast<size_t>(team.size())) {
        core::copy_rect(from.type(), target, source, parts[i]);
      }
    });
    bytes += rect.volume() * size;
  }
  return bytes;
}

}  // namespace

void NodePieces::update(const std::vector<std::shared_ptr<TensorState>>& tensors,
                        const std::shared_ptr<const Prepared>& prepared, const std::vector<int>& ranks) {
  if (prepared != prepared_) {  // before there are other pieces
    window_ = nullptr;
    lies_in_.clear();
  }
  own_.clear();
  std::vector<std::shared_ptr<core::SharedMemory>> lies_in;
  for (const auto& t : tensors) {
    own_.push_back(t->shared_pieces());
    t->used();
    lies_in.push_back(t->shared_memory());
  }
  pieces_ = own_;
  if (cluster_.ranks_on_node() == 1) return;
  bool same = prepared == prepared_ && lies_in == lies_in_;
  prepared_ = prepared;
  lies_in_ = std::move(lies_in);
  if (!core::all_say(cluster_.node(), same)) {
    window_ = nullptr;
    if (choose_ways()) open(ranks);
  }
  for (size_t t = 0; t < tensors.size() && window_; ++t) {
    if (seen_[t].pieces) pieces_[t] = seen_[t].pieces;
  }
}

// False if there is a tensor that moves and for which there is none.
bool NodePieces::choose_ways() {
  std::vector<int> shared;  // on all ranks
  for (const auto& memory : lies_in_) shared.push_back(memory ? 1 : 0);
  MPI_Allreduce(MPI_IN_PLACE, shared.data(), static_cast<int>(shared.size()), MPI_INT, MPI_MIN, cluster_.node());
  const core::Plan& plan = prepared_->plan;
  core::Cost cost = core::count_cost(plan);
  seen_.assign(lies_in_.size(), {});
  for (size_t t = 0; t < lies_in_.size(); ++t) {
    const core::TensorPlan& tensor = plan.tensors[t];
    auto moved = cost.tensors.find(tensor.name);
    int64_t bytes = moved == cost.tensors.end() ? 0 : moved->second.bytes;
    bool all_moves = bytes >= core::whole(tensor.owners.shape()).volume() * tensor.element_bytes;
    if (shared[t] != 0) {
      seen_[t].way = Way::Shared;
    } else if (all_moves && !is_written(plan, t)) {
      seen_[t].way = Way::Copied;
    } else if (bytes > 0) {
      return false;
    }
  }
  return true;
}

void NodePieces::open(const std::vector<int>& ranks) {
  std::vector<std::shared_ptr<core::SharedMemory>> mine;
  for (size_t t = 0; t < seen_.size(); ++t) {
    if (seen_[t].way == Way::Shared) mine.push_back(lies_in_[t]);
    if (seen_[t].way == Way::Copied) {
      mine.push_back(core::SharedMemory::make(offsets_of(*own_[t], ranks, cluster_.rank()).end));
    }
  }
  window_ = core::Window::open(cluster_, std::move(mine));
  if (!window_) return;
  size_t next = 0;
  for (size_t t = 0; t < seen_.size(); ++t) {
    if (seen_[t].way != Way::NotAtAll) seen_[t].pieces = of_node(*own_[t], ranks, next++);
  }
}

// Those that lie in each rank's memory of a number.
std::shared_ptr<core::TensorPieces> NodePieces::of_node(const core::TensorPieces& own, const std::vector<int>& ranks,
                                                        size_t number) const {
  auto out = std::make_shared<core::TensorPieces>(own.owners(), own.type(), own.order());
  for (int rank = 0; rank < cluster_.ranks(); ++rank) {
    if (!cluster_.is_near(rank)) continue;
    out->place(offsets_of(own, ranks, rank), window_->of(rank, number), rank == cluster_.rank());
  }
  return out;
}

int64_t NodePieces::copy(int threads) {
  if (!team_ || team_->size() != threads) team_ = std::make_unique<core::Team>(threads);
  int64_t copied = 0;
  for (size_t t = 0; t < seen_.size() && window_; ++t) {
    if (seen_[t].way != Way::Copied) continue;
    for (int64_t p = 0; p < own_[t]->owners().machine().processors; ++p) {
      if (own_[t]->has_piece(p)) copied += copy_piece(*team_, *own_[t], *seen_[t].pieces, p);
    }
  }
  return copied;
}

void NodePieces::let_go() {
  own_.clear();
  pieces_.clear();
}

}  // namespace distal
