#include "engine/mpi/window.h"

#include <algorithm>
#include <array>

namespace distal::core {

namespace {

// What a rank tells the other ranks of its node, so that they can open its memory.
struct Offer {
  std::array<char, 48> name{};  // empty: none
  int64_t bytes = 0;
  uint64_t id = 0;
};

Offer offer_of(const SharedMemory* memory) {
  Offer out;
  if (!memory || memory->name().size() >= out.name.size()) return out;
  std::copy(memory->name().begin(), memory->name().end(), out.name.begin());
  out.bytes = memory->bytes();
  out.id = memory->id();
  return out;
}

// The offers of all ranks of the node, in rank order.
std::vector<Offer> offers_of_node(const Cluster& cluster, const std::vector<Offer>& mine) {
  std::vector<Offer> all(mine.size() * static_cast<size_t>(cluster.ranks_on_node()));
  auto bytes = static_cast<int>(mine.size() * sizeof(Offer));
  MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, cluster.node());
  return all;
}

}  // namespace

std::unique_ptr<Window> Window::open(const Cluster& cluster, std::vector<std::shared_ptr<SharedMemory>> mine) {
  std::vector<Offer> own;
  for (const auto& memory : mine) own.push_back(offer_of(memory.get()));
  std::vector<Offer> offers = offers_of_node(cluster, own);
  auto me = static_cast<size_t>(cluster.rank_in_node(cluster.rank()));
  Memory memory(static_cast<size_t>(cluster.ranks_on_node()));
  bool has_all = std::all_of(mine.begin(), mine.end(), [](const auto& m) { return m != nullptr; });
  for (size_t i = 0; i < offers.size() && has_all; ++i) {
    size_t rank = i / mine.size();
    if (rank == me) continue;
    memory[rank].push_back(SharedMemory::open(offers[i].name.data(), offers[i].bytes, offers[i].id));
    has_all = memory[rank].back() != nullptr;
  }
  memory[me] = std::move(mine);
  if (!all_true(cluster.node(), has_all)) return nullptr;
  return std::unique_ptr<Window>(new Window(cluster, std::move(memory)));
}

std::unique_ptr<Window> Window::make(const Cluster& cluster, int64_t bytes) {
  return open(cluster, {SharedMemory::make(bytes)});
}

std::byte* Window::of(int rank, size_t number) const {
  return memory_[static_cast<size_t>(cluster_->rank_in_node(rank))][number]->data();
}

}  // namespace distal::core
