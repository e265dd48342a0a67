#include "api/mpi/node_pieces.h"

#include <algorithm>

#include "plan/cost.h"

namespace distal {

namespace {

constexpr int64_t kPartBytes = 1 << 20;  // of a copy, for one thread

// Calls f with every processor that has a piece and is on a rank.
template <class F>
void for_each_piece(const core::Ownership& owners, const std::vector<int>& ranks, int rank, F&& f) {
  for (int64_t p = 0; p < owners.machine().processors; ++p) {
    if (ranks[static_cast<size_t>(p)] == rank && owners.owns_any(p)) f(p);
  }
}

bool is_written(const core::Plan& plan, size_t tensor) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [&](const core::StagePlan& s) { return s.output == static_cast<int>(tensor); });
}

}  // namespace

void NodePieces::update(const std::vector<std::shared_ptr<TensorState>>& tensors, const core::Plan& plan,
                        const std::vector<int>& ranks) {
  bool current = std::all_of(tensors.begin(), tensors.end(), [](const auto& t) { return t->has_current_pieces(); });
  if (!current) window_ = nullptr;  // before there are others
  own_.clear();
  std::vector<int64_t> versions;
  for (const auto& t : tensors) {
    own_.push_back(t->shared_pieces());
    versions.push_back(own_.back()->version());
    t->used();
  }
  pieces_ = own_;
  if (cluster_.ranks_on_node() == 1) return;
  if (!core::all_say(cluster_.node(), versions == versions_)) {
    window_ = nullptr;
    if (choose_ways(tensors, plan, ranks)) open(tensors, ranks);
  }
  versions_ = std::move(versions);
  for (size_t t = 0; t < tensors.size() && window_; ++t) {
    if (seen_[t].pieces) pieces_[t] = seen_[t].pieces;
  }
}

// False if there is a tensor that moves and for which there is none.
bool NodePieces::choose_ways(const std::vector<std::shared_ptr<TensorState>>& tensors, const core::Plan& plan,
                             const std::vector<int>& ranks) {
  std::vector<int> shared(tensors.size(), 1);  // on all ranks
  for (size_t t = 0; t < tensors.size(); ++t) {
    for_each_piece(own_[t]->owners(), ranks, cluster_.rank(), [&](int64_t p) {
      if (!tensors[t]->shared_memory_of(p)) shared[t] = 0;
    });
  }
  MPI_Allreduce(MPI_IN_PLACE, shared.data(), static_cast<int>(shared.size()), MPI_INT, MPI_MIN, cluster_.node());
  core::Cost cost = core::count_cost(plan);
  seen_.assign(tensors.size(), {});
  for (size_t t = 0; t < tensors.size(); ++t) {
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

void NodePieces::open(const std::vector<std::shared_ptr<TensorState>>& tensors, const std::vector<int>& ranks) {
  std::vector<std::shared_ptr<core::SharedMemory>> mine;
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (seen_[t].way == Way::NotAtAll) continue;
    const core::Ownership& owners = own_[t]->owners();
    for_each_piece(owners, ranks, cluster_.rank(), [&](int64_t p) {
      bool copied = seen_[t].way == Way::Copied;
      int64_t bytes = owners.piece_of(p).volume() * core::size_of(own_[t]->type());
      mine.push_back(copied ? core::SharedMemory::make(bytes) : tensors[t]->shared_memory_of(p));
    });
  }
  window_ = core::Window::open(cluster_, std::move(mine));
  if (!window_) return;
  std::vector<size_t> next(static_cast<size_t>(cluster_.ranks()), 0);  // of a rank's memory
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (seen_[t].way != Way::NotAtAll) seen_[t].pieces = of_node(*own_[t], ranks, next);
  }
}

std::shared_ptr<core::TensorPieces> NodePieces::of_node(const core::TensorPieces& own, const std::vector<int>& ranks,
                                                        std::vector<size_t>& next) const {
  auto out = std::make_shared<core::TensorPieces>(own.owners(), own.type(), own.order());
  for (int rank = 0; rank < cluster_.ranks(); ++rank) {
    if (!cluster_.is_near(rank)) continue;
    for_each_piece(own.owners(), ranks, rank, [&](int64_t p) {
      out->place(p, window_->of(rank, next[static_cast<size_t>(rank)]++), rank == cluster_.rank());
    });
  }
  return out;
}

int64_t NodePieces::copy(int threads) {
  if (!team_ || team_->size() != threads) team_ = std::make_unique<core::Team>(threads);
  int64_t copied = 0;
  for (size_t t = 0; t < seen_.size() && window_; ++t) {
    if (seen_[t].way != Way::Copied) continue;
    const core::TensorPieces &from = *own_[t], &to = *seen_[t].pieces;
    for (int64_t p = 0; p < from.owners().machine().processors; ++p) {
      if (!from.has_piece(p)) continue;
      for (const core::Rect& rect : from.owners().rects_of(p)) {
        core::View source = from.view(p, rect), target = to.view(p, rect);
        int64_t size = core::size_of(from.type());
        std::vector<core::Rect> parts = core::cut_up(rect, kPartBytes / size);
        team_->run([&](int thread) {
          for (size_t i = static_cast<size_t>(thread); i < parts.size(); i += static_cast<size_t>(team_->size())) {
            core::copy_rect(from.type(), target, source, parts[i]);
          }
        });
        copied += rect.volume() * size;
      }
    }
  }
  return copied;
}

void NodePieces::let_go() {
  own_.clear();
  pieces_.clear();
}

}  // namespace distal
