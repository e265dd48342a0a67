#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/mpi/agreement.h"
#include "engine/mpi/transport.h"
#include "session/mpi/node_pieces.h"
#include "session/session.h"

namespace distal::core {

// Limits that tests set.
struct MpiLimits {
  int prefetch_depth = kMaxPrefetchDepth;  // the most later steps to fetch while one is computed, if memory allows
  std::optional<int64_t> memory;           // the bytes that this rank's machine has for a run; none: what is free
};

// A session on the ranks of a communicator. All ranks make the same calls. The ranks of a node use each other's pieces
// in place if they can.
class MpiSession : public Session {
 public:
  MpiSession(std::shared_ptr<PreparedProgram> prepared, const Cluster& cluster, const SessionOptions& options,
             const MpiLimits& limits = {});
  ~MpiSession() override { stop(); }  // its threads use the members of this class

  // Allocates one block for the pieces of all tensors of this rank. The ranks of the node share it if they can.
  void place_pieces(int64_t other_bytes) override;
  // Uses these pieces of this rank, one for each tensor, until let_go. To be called before each run, unless the session
  // placed the pieces itself.
  void hold(const std::vector<HeldTensor>& tensors);
  void let_go();
  // Gives back the memory of other ranks that hold() opened. The next run opens it anew.
  void close() { node_.close(); }

  RunCounts run() override;
  RunCounts run_stage(size_t stage) override;
  void barrier() override;

  bool has_all_pieces() const override { return false; }
  bool is_here(int64_t processor) const override { return ranks_[static_cast<size_t>(processor)] == cluster_.rank(); }
  const ProcessGroup& group() const override { return group_; }
  std::string description() const override;
  std::vector<std::byte> gather(int tensor) const override;
  int64_t peak_per_processor() const override { return largest(peak_here()); }
  int64_t resident_bytes() const override { return largest(Session::resident_bytes()); }

  const MemoryNeeds& needs() const { return needs_; }
  bool shares_memory() const { return shares_memory_; }

 private:
  MemoryOptions memory_options(bool shares) const;
  void choose_needs(const MemoryOptions& memory, int64_t other_bytes, int64_t available);
  int64_t bytes_needed_on_machine(const MemoryNeeds& needs, int64_t other_bytes) const;
  int64_t available() const;
  void make_leaves();
  void connect(bool shares);
  TensorStore pieces_in_one_memory();
  RunCounts on_all_ranks(const std::function<RunCounts()>& run_here);
  int64_t largest(int64_t mine) const;

  const Cluster& cluster_;
  ClusterGroup group_;
  MpiLimits limits_;
  std::vector<int> ranks_;  // by processor
  int threads_;
  MemoryNeeds needs_;
  bool shares_memory_ = false;      // whether this rank's node does
  std::unique_ptr<Window> window_;  // with the pieces, if the session placed them and the node shares them
  Block block_;                     // with this rank's pieces, if the session placed them and there is no window
  NodePieces node_;                 // with the pieces that are given
  std::unique_ptr<MpiTransport> transport_;
};

}  // namespace distal::core
