#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/mpi/cluster.h"
#include "store/shared_memory.h"

namespace distal::core {

// Memory of each rank of a node that the other ranks can touch. MPI's own windows lie on small pages, which slow leaves
// down. Accesses are ordered by barriers between the ranks.
class Window {
 public:
  // Collective over a node; every rank passes the same number of memories. Null on all its ranks if some memory is null
  // or cannot be opened by another rank.
  static std::unique_ptr<Window> open(const Cluster& cluster, std::vector<std::shared_ptr<SharedMemory>> mine);
  // The same with one new memory per rank.
  static std::unique_ptr<Window> make(const Cluster& cluster, int64_t bytes);

  // A memory of a rank of this node, by its position in that rank's `mine`.
  std::byte* of(int rank, size_t number = 0) const;

 private:
  using Memory = std::vector<std::vector<std::shared_ptr<SharedMemory>>>;  // by rank in the node
  Window(const Cluster& cluster, Memory memory) : cluster_(&cluster), memory_(std::move(memory)) {}

  const Cluster* cluster_;
  Memory memory_;
};

}  // namespace distal::core
