#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace distal::core {

// Whether a thing is so on every rank of a communicator; all of them ask.
bool all_say(MPI_Comm communicator, bool mine);

// Whether ranks that can share memory are to: not with DISTAL_MPI_SHARED=0, for measurements, and where memory that is
// shared is slow or scarce.
bool may_share();

// A name for the part of its machine that a rank shares memory with, from DISTAL_MPI_NODE: where memory of the whole
// machine is slow to reach, as across its sockets.
std::string named_node();

// The ranks of a communicator, and which of them share a node: those of one machine whose nodes have the same name.
// Every rank knows this of all.
class Cluster {
 public:
  // With `share` off on any rank, every rank is taken for a node of its own; but those that run on one machine still
  // have its cores and its memory together.
  Cluster(MPI_Comm communicator, bool share, const std::string& node = named_node());
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  MPI_Comm all() const { return all_; }    // a communicator of our own
  MPI_Comm node() const { return node_; }  // the ranks that can share memory with this one
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int ranks_on_node() const { return ranks_on_node_; }
  int nodes() const;
  bool shares() const { return shares_; }
  // A number that the ranks of one node share, by rank.
  const std::vector<int>& node_of_rank() const { return node_of_rank_; }
  bool is_near(int rank) const {  // on the node of this one
    return node_of_rank_[static_cast<size_t>(rank)] == node_of_rank_[static_cast<size_t>(rank_)];
  }
  int ranks_on_machine() const;  // of this one
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
