#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/mpi/cluster.h"
#include "engine/mpi/transport.h"
#include "engine/mpi/window.h"
#include "engine/runner.h"

namespace distal::core {

struct MpiOptions {
  int threads = 0;          // of each rank; 0: its share of the node's cores
  bool share = true;        // let ranks of one node use each other's pieces where they lie
  int ahead = kStepsAhead;  // steps that may be fetched while one is worked on, if there is memory for them
  int64_t beside = 0;       // bytes that each rank holds at some time beside the plan's
};

// Carries a plan out on the ranks of a communicator, which all do the same calls. The pieces of a rank's tensors are
// in memory that the ranks of its node share, where they can.
class MpiEngine {
 public:
  // `available` is the memory that there is on this node.
  MpiEngine(const Plan& plan, const Cluster& cluster, MpiOptions options, int64_t available);
  // With pieces that are there already, and that the store is given before each run; where ranks share, also those of
  // the others of the node. `available` is the memory beside them.
  MpiEngine(const Plan& plan, const Cluster& cluster, MpiOptions options, std::unique_ptr<TensorStore> store,
            int64_t available);

  // Before anything runs.
  void use_leaves(std::vector<std::unique_ptr<LeafKernel>> leaves);

  TensorStore& store() { return *store_; }
  const Cluster& cluster() const { return cluster_; }
  const MemoryNeeds& needs() const { return needs_; }
  int threads() const { return threads_; }
  bool is_here(int64_t processor) const { return transport_->is_here(processor); }
  bool shares_memory() const { return window_ != nullptr; }

  // Of all ranks together.
  RunCounts run();
  RunCounts run_stage(size_t stage);
  int64_t peak_per_processor() const;
  int64_t peak_here() const { return peak_with_pieces(allocator_, *store_); }  // of this rank's processors

  // The whole of a tensor in row-major order, on rank 0 or on all.
  enum class At { Root, All };
  std::vector<std::byte> gather(int tensor, At at) const;

 private:
  MpiEngine(const Plan& plan, const Cluster& cluster, const MpiOptions& options);
  MemoryOptions memory_options(const MpiOptions& options, bool shares) const;
  void connect();
  int64_t need_of_machine(const MemoryNeeds& needs) const;
  void choose_needs(const MemoryOptions& memory, int64_t available);
  void place_pieces();
  RunCounts of_all(RunCounts mine) const;

  const Plan& plan_;
  const Cluster& cluster_;
  std::vector<int> ranks_;  // by processor
  int threads_;
  int64_t beside_;
  std::unique_ptr<Window> window_;  // null: ranks have memory of their own
  MemoryNeeds needs_;
  Allocator allocator_;
  Block block_;  // of pieces that are not in a window
  std::unique_ptr<TensorStore> store_;
  std::unique_ptr<MpiTransport> transport_;
  std::unique_ptr<Runner> runner_;
};

// An Error that comes out on all ranks.
class AgreedError : public Error {
 public:
  using Error::Error;
};

// Lets every rank do something that can fail. If it did on any, the Error of the first such rank comes out on all.
void together(const Cluster& cluster, const std::function<void()>& f);

// Lets every rank do something of which only an AgreedError is survived: a rank that fails alone ends the job.
void or_end_job(const Cluster& cluster, const std::function<void()>& f);

// Refuses to go on where the ranks of a machine need more bytes together than are available on it. All ranks call it.
void require_machine_memory(const Cluster& cluster, int64_t mine, int64_t available);

void broadcast_text(const Cluster& cluster, int from, std::string& text);

// Refuses to go on if the ranks were not told the same.
void require_same(const Cluster& cluster, const std::string& what, const std::string& text);

}  // namespace distal::core
