#pragma once

#include <functional>
#include <string>

#include "distal/progress.h"
#include "engine/mpi/cluster.h"
#include "support/error.h"
#include "support/process_group.h"

namespace distal::core {

// An Error that is thrown on all ranks.
class AgreedError : public Error {
 public:
  using Error::Error;
};

// Interrupted that is thrown on all ranks.
class AgreedInterruption : public Interrupted {};

// Runs f on every rank. If it throws on any rank, all ranks throw the Error of the first such rank as an AgreedError,
// or an AgreedInterruption if that was Interrupted.
void agree_on_error(const Cluster& cluster, const std::function<void()>& f);

// Runs f and ends the job if it throws anything but an AgreedError or an AgreedInterruption: the other ranks would wait
// for this one.
void end_job_on_failure(const Cluster& cluster, const std::function<void()>& f);

// Throws an Error if this rank's machine has less memory than its ranks need together.
void require_node_memory(int64_t need, int64_t have);
// Throws an AgreedError if the ranks of some machine together need more bytes than are available on it. Collective.
void require_machine_memory(const Cluster& cluster, int64_t mine, int64_t available);

void broadcast_text(const Cluster& cluster, int from, std::string& text);

// The ranks of a cluster.
class ClusterGroup : public ProcessGroup {
 public:
  explicit ClusterGroup(const Cluster& cluster) : cluster_(cluster) {}
  bool is_first() const override { return cluster_.rank() == 0; }
  void agree(const std::function<void()>& f) const override { agree_on_error(cluster_, f); }
  void broadcast(std::string& text) const override { broadcast_text(cluster_, 0, text); }

 private:
  const Cluster& cluster_;
};

// Throws an AgreedError if `text` is not the same on all ranks; `what` names it in the message. Collective.
void require_same(const Cluster& cluster, const std::string& what, const std::string& text);

}  // namespace distal::core
