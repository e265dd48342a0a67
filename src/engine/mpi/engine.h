#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/mpi/cluster.h"
#include "engine/mpi/transport.h"
#include "engine/mpi/window.h"
#include "engine/runner.h"
#include "support/process_group.h"

namespace distal::core {

struct MpiOptions {
  int threads = 0;                         // of each rank; 0: its share of the machine's cores
  bool share = true;                       // let ranks of one node use each other's pieces in place
  int prefetch_depth = kMaxPrefetchDepth;  // the most later steps to fetch while one is computed, if memory allows
  int64_t extra_bytes = 0;                 // bytes that each rank needs besides the plan's
};

// Carries out a plan on the ranks of a communicator. All ranks make the same calls. The ranks of a node share the
// memory of their tensors' pieces if they can.
class MpiEngine {
 public:
  // `available` is the free memory of this rank's machine in bytes.
  MpiEngine(const Plan& plan, const Cluster& cluster, MpiOptions options, int64_t available);
  // For existing pieces, which the caller puts into the store before each run; if ranks share memory, also the pieces
  // of the other ranks of the node. `available` is the free memory besides the pieces.
  MpiEngine(const Plan& plan, const Cluster& cluster, MpiOptions options, std::unique_ptr<TensorStore> store,
            int64_t available);

  // To be called before the first run.
  void use_leaves(std::vector<std::unique_ptr<LeafKernel>> leaves);

  TensorStore& store() { return *store_; }
  const Cluster& cluster() const { return cluster_; }
  const MemoryNeeds& needs() const { return needs_; }
  int threads() const { return threads_; }
  bool is_here(int64_t processor) const { return transport_->is_here(processor); }
  bool shares_memory() const { return window_ != nullptr; }

  // Counts of all ranks together, and the largest peak of all ranks.
  RunCounts run();
  RunCounts run_stage(size_t stage);
  int64_t peak_per_processor() const;
  int64_t peak_here() const { return peak_with_pieces(allocator_, *store_); }  // of this rank's processors

  // A whole tensor in row-major order, on rank 0 (elsewhere empty) or on all ranks.
  enum class At { Root, All };
  std::vector<std::byte> gather(int tensor, At at) const;

 private:
  MpiEngine(const Plan& plan, const Cluster& cluster, const MpiOptions& options);
  MemoryOptions memory_options(const MpiOptions& options, bool shares) const;
  void connect();
  int64_t bytes_needed_on_machine(const MemoryNeeds& needs) const;
  void choose_needs(const MemoryOptions& memory, int64_t available);
  void place_pieces();
  RunCounts sum_over_ranks(RunCounts mine) const;

  const Plan& plan_;
  const Cluster& cluster_;
  std::vector<int> ranks_;  // by processor
  int threads_;
  int64_t extra_bytes_;
  std::unique_ptr<Window> window_;  // null if ranks do not share memory
  MemoryNeeds needs_;
  Allocator allocator_;
  Block block_;  // this rank's pieces if there is no window
  std::unique_ptr<TensorStore> store_;
  std::unique_ptr<MpiTransport> transport_;
  std::unique_ptr<Runner> runner_;
};

// An Error that is thrown on all ranks.
class AgreedError : public Error {
 public:
  using Error::Error;
};

// Runs f on every rank. If it throws on any rank, all ranks throw the Error of the first such rank as an AgreedError.
void agree_on_error(const Cluster& cluster, const std::function<void()>& f);

// Runs f and ends the job if it throws anything but an AgreedError: the other ranks would wait for this one.
void end_job_on_failure(const Cluster& cluster, const std::function<void()>& f);

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

// Throws an AgreedError if the ranks of some machine together need more bytes than are available on it. Collective.
void require_machine_memory(const Cluster& cluster, int64_t mine, int64_t available);

// Throws an AgreedError if `text` is not the same on all ranks; `what` names it in the message. Collective.
void require_same(const Cluster& cluster, const std::string& what, const std::string& text);

}  // namespace distal::core
