#include "engine/mpi/cluster.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <set>

namespace distal::core {

namespace {

// By rank: the first rank of its group.
std::vector<int> first_ranks(MPI_Comm all, MPI_Comm group, int rank, int ranks) {
  MPI_Bcast(&rank, 1, MPI_INT, 0, group);
  std::vector<int> out(static_cast<size_t>(ranks));
  MPI_Allgather(&rank, 1, MPI_INT, out.data(), 1, MPI_INT, all);
  return out;
}

// A hash of a name, the same on all ranks.
int number_of(const std::string& name) {
  size_t hash = std::hash<std::string>{}(name);
  return static_cast<int>(hash % std::numeric_limits<int>::max());
}

// The ranks of `group` with the same number. Frees `group`.
MPI_Comm subgroup_of(MPI_Comm group, int number, int rank) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(group, number, rank, &part);
  MPI_Comm_free(&group);
  return part;
}

}  // namespace

bool all_true(MPI_Comm communicator, bool mine) {
  int said = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &said, 1, MPI_INT, MPI_MIN, communicator);
  return said == 1;
}

bool may_share() {
  const char* said = std::getenv("DISTAL_MPI_SHARED");
  return !said || std::string(said) != "0";
}

std::string named_node() {
  const char* said = std::getenv("DISTAL_MPI_NODE");
  return said ? said : "";
}

Cluster::Cluster(MPI_Comm communicator, bool share, const std::string& node) {
  MPI_Comm_dup(communicator, &all_);
  MPI_Comm_set_errhandler(all_, MPI_ERRORS_ARE_FATAL);  // return codes are not checked here
  MPI_Comm_rank(all_, &rank_);
  MPI_Comm_size(all_, &ranks_);
  shares_ = all_true(all_, share);
  MPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node_);
  machine_of_rank_ = first_ranks(all_, node_, rank_, ranks_);
  node_ = subgroup_of(node_, shares_ ? number_of(node) : rank_, rank_);
  node_of_rank_ = first_ranks(all_, node_, rank_, ranks_);
  MPI_Comm_size(node_, &ranks_on_node_);
  int here = 0;
  MPI_Comm_rank(node_, &here);
  rank_in_node_.resize(static_cast<size_t>(ranks_));
  MPI_Allgather(&here, 1, MPI_INT, rank_in_node_.data(), 1, MPI_INT, all_);
}

// The application may have finalized MPI before this object ends.
Cluster::~Cluster() {
  int over = 0;
  MPI_Finalized(&over);
  if (over != 0) return;
  MPI_Comm_free(&node_);
  MPI_Comm_free(&all_);
}

int Cluster::ranks_on_machine() const {
  int mine = machine_of_rank_[static_cast<size_t>(rank_)];
  return static_cast<int>(std::count(machine_of_rank_.begin(), machine_of_rank_.end(), mine));
}

int Cluster::nodes() const {
  return static_cast<int>(std::set<int>(node_of_rank_.begin(), node_of_rank_.end()).size());
}

}  // namespace distal::core
