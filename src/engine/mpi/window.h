#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/mpi/cluster.h"
#include "engine/mpi/shared_memory.h"

namespace distal::core {

// Memory of each rank that the others of its node can touch. MPI's own windows lie on small pages, which slow
// leaves down. What orders accesses is when ranks meet.
class Window {
 public:
  // All ranks of a node call this. Null if their memory cannot be shared; then no rank of the node has one.
  static std::unique_ptr<Window> make(const Cluster& cluster, int64_t bytes);

  std::byte* of(int rank) const;  // of the same node

 private:
  Window(const Cluster& cluster, std::vector<std::unique_ptr<SharedMemory>> memory)
      : cluster_(&cluster), memory_(std::move(memory)) {}

  const Cluster* cluster_;
  std::vector<std::unique_ptr<SharedMemory>> memory_;  // by rank in the node
};

}  // namespace distal::core
