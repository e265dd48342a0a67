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
  Memory lies_in;
  for (const auto& t : tensors) {
    own_.push_back(t->shared_pieces());
    t->used();
    lies_in.emplace_back();
    for_each_piece(own_.back()->owners(), ranks, cluster_.rank(),
                   [&](int64_t p) { lies_in.back().push_back(t->shared_memory_of(p)); });
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
  for (const auto& memory : lies_in_) {
    shared.push_back(std::all_of(memory.begin(), memory.end(), [](const auto& m) { return m != nullptr; }) ? 1 : 0);
  }
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
  for (size_t t = 0; t < lies_in_.size(); ++t) {
    if (seen_[t].way == Way::Shared) mine.insert(mine.end(), lies_in_[t].begin(), lies_in_[t].end());
    if (seen_[t].way != Way::Copied) continue;
    const core::Ownership& owners = own_[t]->owners();
    for_each_piece(owners, ranks, cluster_.rank(), [&](int64_t p) {
      mine.push_back(core::SharedMemory::make(owners.piece_of(p).volume() * core::size_of(own_[t]->type())));
    });
  }
  window_ = core::Window::open(cluster_, std::move(mine));
  if (!window_) return;
  std::vector<size_t> next(static_cast<size_t>(cluster_.ranks()), 0);  // of a rank's memory
  for (size_t t = 0; t < seen_.size(); ++t) {
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
