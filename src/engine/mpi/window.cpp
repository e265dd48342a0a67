#include "engine/mpi/window.h"

#include <algorithm>
#include <array>

namespace distal::core {

namespace {

// What a rank tells the others of its node.
struct Offer {
  std::array<char, 64> name{};  // empty: it has none
  int64_t bytes = 0;
};

std::vector<Offer> offers_of_node(const Cluster& cluster, const SharedMemory* mine, int64_t bytes) {
  Offer offer;
  if (mine) std::copy(mine->name().begin(), mine->name().end(), offer.name.begin());
  offer.bytes = bytes;
  std::vector<Offer> all(static_cast<size_t>(cluster.ranks_on_node()));
  MPI_Allgather(&offer, sizeof(Offer), MPI_BYTE, all.data(), sizeof(Offer), MPI_BYTE, cluster.node());
  return all;
}

}  // namespace

std::unique_ptr<Window> Window::make(const Cluster& cluster, int64_t bytes) {
  bytes = std::max<int64_t>(bytes, 1);
  auto me = static_cast<size_t>(cluster.rank_in_node(cluster.rank()));
  std::unique_ptr<SharedMemory> mine = SharedMemory::make(bytes);
  std::vector<Offer> offers = offers_of_node(cluster, mine.get(), bytes);
  std::vector<std::unique_ptr<SharedMemory>> memory(offers.size());
  memory[me] = std::move(mine);
  bool has_all = memory[me] != nullptr;
  for (size_t r = 0; r < offers.size() && has_all; ++r) {
    if (r == me) continue;
    memory[r] = SharedMemory::open(offers[r].name.data(), offers[r].bytes);
    has_all = memory[r] != nullptr;
  }
  has_all = all_say(cluster.node(), has_all);
  if (memory[me]) memory[me]->hide();
  if (!has_all || !all_say(cluster.node(), memory[me]->take())) return nullptr;
  return std::unique_ptr<Window>(new Window(cluster, std::move(memory)));
}

std::byte* Window::of(int rank) const { return memory_[static_cast<size_t>(cluster_->rank_in_node(rank))]->data(); }

}  // namespace distal::core
