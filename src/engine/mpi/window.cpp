#include "engine/mpi/window.h"

#include <algorithm>
#include <array>

namespace distal::core {

namespace {

// What a rank tells the others of its node.
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

// By rank in the node. Every rank may have another number of them.
std::vector<std::vector<Offer>> offers_of_node(const Cluster& cluster, std::vector<Offer> mine) {
  auto ranks = static_cast<size_t>(cluster.ranks_on_node());
  std::vector<int> counts(ranks), begins(ranks, 0);
  auto count = static_cast<int>(mine.size() * sizeof(Offer));
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, cluster.node());
  for (size_t r = 1; r < ranks; ++r) begins[r] = begins[r - 1] + counts[r - 1];
  std::vector<Offer> all(static_cast<size_t>(begins.back() + counts.back()) / sizeof(Offer));
  MPI_Allgatherv(mine.data(), count, MPI_BYTE, all.data(), counts.data(), begins.data(), MPI_BYTE, cluster.node());
  std::vector<std::vector<Offer>> out;
  auto at = all.begin();
  for (int bytes : counts) {
    auto end = at + static_cast<std::ptrdiff_t>(static_cast<size_t>(bytes) / sizeof(Offer));
    out.emplace_back(at, end);
    at = end;
  }
  return out;
}

}  // namespace

std::unique_ptr<Window> Window::open(const Cluster& cluster, std::vector<std::shared_ptr<SharedMemory>> mine) {
  std::vector<Offer> own;
  for (const auto& memory : mine) own.push_back(offer_of(memory.get()));
  std::vector<std::vector<Offer>> offers = offers_of_node(cluster, std::move(own));
  auto me = static_cast<size_t>(cluster.rank_in_node(cluster.rank()));
  Memory memory(offers.size());
  bool has_all = std::all_of(mine.begin(), mine.end(), [](const auto& m) { return m != nullptr; });
  for (size_t r = 0; r < offers.size(); ++r) {
    for (size_t i = 0; i < offers[r].size() && r != me && has_all; ++i) {
      const Offer& offer = offers[r][i];
      memory[r].push_back(SharedMemory::open(offer.name.data(), offer.bytes, offer.id));
      has_all = memory[r].back() != nullptr;
    }
  }
  memory[me] = std::move(mine);
  if (!all_say(cluster.node(), has_all)) return nullptr;
  return std::unique_ptr<Window>(new Window(cluster, std::move(memory)));
}

std::unique_ptr<Window> Window::make(const Cluster& cluster, int64_t bytes) {
  return open(cluster, {SharedMemory::make(bytes)});
}

std::byte* Window::of(int rank, size_t number) const {
  return memory_[static_cast<size_t>(cluster_->rank_in_node(rank))][number]->data();
}

}  // namespace distal::core
