#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/mpi/cluster.h"

namespace distal::core {

// Memory of each rank that the others of its node can touch.
class Window {
 public:
  // All ranks of a node call this. Null if their memory cannot be shared; then no rank of the node has one.
  static std::unique_ptr<Window> make(const Cluster& cluster, int64_t bytes);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  std::byte* of(int rank) const;  // of the same node

 private:
  Window(const Cluster& cluster, MPI_Win window) : cluster_(&cluster), window_(window) {}

  const Cluster* cluster_;
  MPI_Win window_;
};

}  // namespace distal::core
