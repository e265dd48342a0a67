#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/mpi/cluster.h"
#include "store/shared_memory.h"

namespace distal::core {

// Memory of each rank that the others of its node can touch. MPI's own windows lie on small pages, which slow
// leaves down. What orders accesses is when ranks meet.
class Window {
 public:
  // All ranks of a node call this, with equally many. Null if some of their memory is null, or cannot be opened by a
  // neighbour; then no rank of the node has a window.
  static std::unique_ptr<Window> open(const Cluster& cluster, std::vector<std::shared_ptr<SharedMemory>> mine);
  // The same with new memory.
  static std::unique_ptr<Window> make(const Cluster& cluster, int64_t bytes);

  // Of a rank of the same node, in the order in which it has it.
  std::byte* of(int rank, size_t number = 0) const;

 private:
  using Memory = std::vector<std::vector<std::shared_ptr<SharedMemory>>>;  // by rank in the node
  Window(const Cluster& cluster, Memory memory) : cluster_(&cluster), memory_(std::move(memory)) {}

  const Cluster* cluster_;
  Memory memory_;
};

}  // namespace distal::core
