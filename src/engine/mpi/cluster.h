#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace distal::core {

// Whether `mine` is true on every rank of the communicator. Collective.
bool all_true(MPI_Comm communicator, bool mine);

// Whether ranks may share memory. DISTAL_MPI_SHARED=0 forbids it: for measurements, and for machines whose shared
// memory is slow or scarce.
bool may_share();

// The value of DISTAL_MPI_NODE, which divides a machine into nodes: ranks share memory only with ranks that have the
// same value. Used where remote memory is slow, as on another socket.
std::string named_node();

// The ranks of a communicator and their nodes. Ranks are on one node if they run on one machine and their nodes have
// the same name. Every rank knows the node of every other.
class Cluster {
 public:
  // With `share` off on any rank, every rank is a node of its own. Ranks of one machine still divide its cores and
  // memory among them.
  Cluster(MPI_Comm communicator, bool share, const std::string& node = named_node());
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  MPI_Comm all() const { return all_; }    // a duplicate of the caller's communicator
  MPI_Comm node() const { return node_; }  // the ranks that share memory with this one
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int ranks_on_node() const { return ranks_on_node_; }
  int nodes() const;
  bool shares() const { return shares_; }
  // By rank: the first rank of its node.
  const std::vector<int>& node_of_rank() const { return node_of_rank_; }
  bool is_on_node(int rank) const {  // this rank's node
    return node_of_rank_[static_cast<size_t>(rank)] == node_of_rank_[static_cast<size_t>(rank_)];
  }
  int ranks_on_machine() const;  // this rank's machine
  bool is_on_machine(int rank) const {
    return machine_of_rank_[static_cast<size_t>(rank)] == machine_of_rank_[static_cast<size_t>(rank_)];
  }
  int rank_in_node(int rank) const { return rank_in_node_[static_cast<size_t>(rank)]; }

 private:
  MPI_Comm all_ = MPI_COMM_NULL, node_ = MPI_COMM_NULL;
  bool shares_ = false;
  int rank_ = 0, ranks_ = 1, ranks_on_node_ = 1;
  std::vector<int> machine_of_rank_, node_of_rank_, rank_in_node_;
};

}  // namespace distal::core
