#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "plan/walk.h"

namespace distal::core {

// Which processors share memory, so that one can use a rectangle in place inside another's piece: none, as on a
// cluster; all, in one address space; or those of one node.
class Reach {
 public:
  static Reach own() { return {}; }
  static Reach all() { return Reach(true, {}); }
  static Reach within(std::vector<int> nodes) { return Reach(false, std::move(nodes)); }  // by processor

  bool shares_memory(int64_t p, int64_t q) const {
    if (all_ || p == q) return true;
    return !nodes_.empty() && nodes_[static_cast<size_t>(p)] == nodes_[static_cast<size_t>(q)];
  }
  bool operator==(const Reach&) const = default;

 private:
  Reach() = default;
  Reach(bool all, std::vector<int> nodes) : all_(all), nodes_(std::move(nodes)) {}

  bool all_ = false;
  std::vector<int> nodes_;
};

// The options that determine how much memory a plan needs.
struct MemoryOptions {
  Reach reach = Reach::own();
  // How many later steps of an acquire may be fetched while one is computed.
  int prefetch_depth = 0;
  // The process of each processor; empty if there is only one process. Partials from other processes arrive in parts,
  // for which each receiving processor has two staging buffers.
  std::vector<int> processes;

  MemoryOptions(Reach r) : reach(std::move(r)) {}  // NOLINT(google-explicit-constructor): the most common case
  bool in_different_processes(int64_t p, int64_t q) const {
    return !processes.empty() && processes[static_cast<size_t>(p)] != processes[static_cast<size_t>(q)];
  }
  // Whether the source stores or adds a transfer directly into the piece of another process, through shared memory.
  bool is_remote_store(const Transfer& t) const {
    return ends_at_home(t) && in_different_processes(t.source, t.destination) &&
           reach.shares_memory(t.source, t.destination);
  }
};

// Partials travel between processes in parts of at most this many bytes.
inline constexpr int64_t kStagingBytes = 2 << 20;
std::vector<Rect> staged_parts(const Rect& rect, int64_t element_bytes);

// The buffers of one acquire at one place. Each is as large as the largest step needs. There are two if a copy must
// outlive its step: as the source of a neighbour, or because the next step keeps a part of it. Prefetch adds one for
// each step of its depth.
struct BufferNeed {
  int64_t bytes = 0;
  int depth = 1;  // the number of buffers
};

// For each rectangle of a fetch: the processor in whose piece it is used in place, or -1 if it is copied.
std::vector<int64_t> views_of(const Plan& plan, const AcquirePlan& acquire, const Fetch& fetch, const Reach& reach);
// The numbers of the rectangles that are copied. A rectangle that several accesses need is copied once.
std::vector<size_t> copied_rects(const std::vector<Rect>& rects, const std::vector<int64_t>& views);

struct MemoryNeeds {
  MemoryOptions options = Reach::own();
  // [stage][acquire id][place]
  std::vector<std::vector<std::unordered_map<int64_t, BufferNeed>>> buffers;
  std::vector<int64_t> workspace_bytes;  // by stage: on each processor that runs its leaf
  // [stage][processor]: the size of each of its two staging buffers
  std::vector<std::unordered_map<int64_t, int64_t>> staging_bytes;
  std::vector<int64_t> home_bytes;  // by processor: pieces
  std::vector<int64_t> peak;        // by processor: pieces and buffers
  int64_t peak_per_processor = 0;   // of the processor that needs most
  int64_t total = 0;                // the sum of all peaks
};

MemoryNeeds memory_needs(const Plan& plan, const MemoryOptions& options);
// The needs with the largest prefetch depth that `fits` accepts, up to that of the options. A depth of 2 or more is
// only used if it adds at most a quarter to the total without prefetch.
MemoryNeeds needs_with_prefetch(const Plan& plan, MemoryOptions options,
                                const std::function<bool(const MemoryNeeds&)>& fits);
inline constexpr int kMaxPrefetchDepth = 3;  // of MPI ranks
// The bytes of the pieces of all tensors, by processor.
std::vector<int64_t> home_bytes(const Plan& plan);

}  // namespace distal::core
