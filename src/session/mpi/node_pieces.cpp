#include "session/mpi/node_pieces.h"

#include <algorithm>

#include "plan/memory.h"
#include "support/available_memory.h"

namespace distal::core {

namespace {

constexpr int64_t kPartBytes = 1 << 20;  // of a copy, for one thread
// If a rank copies more bytes than this, the stores bypass the caches, which would evict the data before it is read.
constexpr int64_t kPastCachesBytes = 8 << 20;

bool is_written(const Plan& plan, size_t tensor) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [&](const StagePlan& s) { return s.output == static_cast<int>(tensor); });
}

Reach reach_of(const Cluster& cluster, const std::vector<int>& ranks) {
  std::vector<int> nodes;
  for (int rank : ranks) nodes.push_back(cluster.node_of_rank()[static_cast<size_t>(rank)]);
  return Reach::within(std::move(nodes));
}

// How many elements of each tensor move between the ranks of this node, or would be used in place.
class NodeTraffic : public PlanVisitor {
 public:
  NodeTraffic(const Plan& plan, const Cluster& cluster, const std::vector<int>& ranks)
      : plan_(plan),
        cluster_(cluster),
        ranks_(ranks),
        reach_(reach_of(cluster, ranks)),
        elements_(plan.tensors.size(), 0) {
    walk(plan, *this);
  }
  int64_t bytes(size_t tensor) const { return elements_[tensor] * plan_.tensors[tensor].element_bytes; }

  bool wants_leaves() const override { return false; }
  // The plan's source may be on another node although an owner on this node has the rectangle too. Then the owner's
  // piece is used.
  void fetch(const FetchStep& step) override {
    for (const Fetch& f : step.fetches) {
      int64_t brought = 0, used = 0;
      for (const FetchPiece& p : f.pieces) brought += crosses(p.source, f.place) ? p.rect.volume() : 0;
      std::vector<int64_t> owners = views_of(plan_, *step.acquire, f, reach_);
      for (size_t i = 0; i < owners.size(); ++i) {
        used += owners[i] >= 0 && crosses(owners[i], f.place) ? f.rects[i].volume() : 0;
      }
      elements_[static_cast<size_t>(step.acquire->tensor)] += std::max(brought, used);
    }
  }
  void release(const ReleaseStep& step) override {
    for (const Transfer& t : step.transfers) {
      elements_[static_cast<size_t>(step.tensor)] += crosses(t.source, t.destination) ? t.rect.volume() : 0;
    }
  }

 private:
  // From one rank of this node to another.
  bool crosses(int64_t source, int64_t destination) const {
    int from = ranks_[static_cast<size_t>(source)], to = ranks_[static_cast<size_t>(destination)];
    return from != to && cluster_.is_on_node(from) && cluster_.is_on_node(to);
  }

  const Plan& plan_;
  const Cluster& cluster_;
  const std::vector<int>& ranks_;
  Reach reach_;
  std::vector<int64_t> elements_;  // by tensor
};

// A part of a rectangle that is copied.
struct Part {
  View to, from;
  Rect rect;
};

void add_parts(const TensorPieces& from, const TensorPieces& to, std::vector<Part>& parts) {
  for (int64_t p = 0; p < from.owners().machine().processors; ++p) {
    if (!from.has_piece(p)) continue;
    for (const Rect& rect : from.owners().rects_of(p)) {
      View source = from.view(p, rect), target = to.view(p, rect);
      for (Rect& r : cut_up(rect, kPartBytes / size_of(from.type()))) {
        parts.push_back({target, source, std::move(r)});
      }
    }
  }
}

}  // namespace

PieceOffsets NodePieces::offsets_of(const TensorPieces& pieces, int rank) const {
  return piece_offsets(pieces.owners(), pieces.type(),
                       [&](int64_t p) { return ranks_[static_cast<size_t>(p)] == rank; });
}

void NodePieces::update(const std::vector<HeldTensor>& tensors) {
  let_go();
  std::vector<std::shared_ptr<SharedMemory>> lies_in;
  for (const HeldTensor& t : tensors) {
    own_.push_back(t.pieces);
    lies_in.push_back(t.memory);
  }
  pieces_ = own_;
  if (cluster_.ranks_on_node() == 1) return;
  bool same = !seen_.empty() && lies_in == lies_in_;
  lies_in_ = std::move(lies_in);
  if (!all_true(cluster_.node(), same)) {
    window_ = nullptr;
    if (choose_ways()) open();
  }
  for (size_t t = 0; t < tensors.size() && window_; ++t) {
    if (seen_[t].pieces) pieces_[t] = seen_[t].pieces;
  }
}

// Chooses how each tensor is accessed. Returns false if there is no way for a tensor that moves inside the node, or if
// the copies would take more than half of the free memory.
bool NodePieces::choose_ways() {
  std::vector<int64_t> agreed;  // whether each tensor is in shared memory, and the free memory
  for (const auto& memory : lies_in_) agreed.push_back(memory ? 1 : 0);
  agreed.push_back(available_memory());
  MPI_Allreduce(MPI_IN_PLACE, agreed.data(), static_cast<int>(agreed.size()), MPI_INT64_T, MPI_MIN, cluster_.node());
  NodeTraffic moved(plan_, cluster_, ranks_);
  seen_.assign(lies_in_.size(), {});
  int64_t copies = 0;
  for (size_t t = 0; t < lies_in_.size(); ++t) {
    int64_t held = 0;
    for (int64_t p = 0; p < plan_.tensors[t].owners.machine().processors; ++p) {
      if (cluster_.is_on_node(ranks_[static_cast<size_t>(p)])) held += plan_.tensors[t].piece_bytes(p);
    }
    if (agreed[t] != 0) {
      seen_[t].way = Way::Shared;
    } else if (moved.bytes(t) > 0 && moved.bytes(t) >= held && !is_written(plan_, t)) {
      seen_[t].way = Way::Copied;
      copies += held;
    } else if (moved.bytes(t) > 0) {
      return false;
    }
  }
  return copies <= agreed.back() / 2;
}

void NodePieces::open() {
  std::vector<std::shared_ptr<SharedMemory>> mine;
  for (size_t t = 0; t < seen_.size(); ++t) {
    if (seen_[t].way == Way::Shared) mine.push_back(lies_in_[t]);
    if (seen_[t].way == Way::Copied) {
      mine.push_back(SharedMemory::make(offsets_of(*own_[t], cluster_.rank()).end));
    }
  }
  window_ = Window::open(cluster_, std::move(mine));
  if (!window_) return;
  size_t next = 0;
  for (size_t t = 0; t < seen_.size(); ++t) {
    if (seen_[t].way != Way::NotAtAll) seen_[t].pieces = of_node(*own_[t], next++);
  }
}

// The pieces of a tensor on all ranks of the node, which lie in memory `number` of each rank.
std::shared_ptr<TensorPieces> NodePieces::of_node(const TensorPieces& own, size_t number) const {
  auto out = std::make_shared<TensorPieces>(own.owners(), own.type(), own.order());
  for (int rank = 0; rank < cluster_.ranks(); ++rank) {
    if (!cluster_.is_on_node(rank)) continue;
    out->attach(offsets_of(own, rank), window_->of(rank, number), rank == cluster_.rank());
  }
  return out;
}

int64_t NodePieces::copy(int threads) {
  if (!window_) return 0;
  std::vector<Part> parts;
  for (size_t t = 0; t < seen_.size(); ++t) {
    if (seen_[t].way == Way::Copied) add_parts(*own_[t], *seen_[t].pieces, parts);
  }
  if (parts.empty()) return 0;
  if (!team_ || team_->size() != threads) team_ = std::make_unique<Team>(threads);
  ElementType type = own_[0]->type();  // a program computes with one
  int64_t bytes = 0;
  for (const Part& part : parts) bytes += part.rect.volume() * size_of(type);
  StoreKind stores = bytes > kPastCachesBytes ? StoreKind::NonTemporal : StoreKind::Cached;
  team_->run([&](int thread) {
    for (auto i = static_cast<size_t>(thread); i < parts.size(); i += static_cast<size_t>(threads)) {
      copy_rect(type, parts[i].to, parts[i].from, parts[i].rect, stores);
    }
  });
  return bytes;
}

void NodePieces::let_go() {
  own_.clear();
  pieces_.clear();
}

void NodePieces::close() {
  window_ = nullptr;
  lies_in_.clear();
  seen_.clear();
}

}  // namespace distal::core
