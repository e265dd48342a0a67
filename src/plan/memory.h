#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "plan/walk.h"

namespace distal::core {

// Which processors can touch each other's pieces, so that a rectangle that lies in one piece of another's can be used
// there: none, as on a cluster; all, in one address space; or those of one node.
class Reach {
 public:
  static Reach own() { return {}; }
  static Reach all() { return Reach(true, {}); }
  static Reach within(std::vector<int> nodes) { return Reach(false, std::move(nodes)); }  // by processor

  bool together(int64_t p, int64_t q) const {
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

// How a plan is to be held.
struct MemoryOptions {
  Reach reach = Reach::own();
  // A place that acquires again and again may begin with so many further steps while it works on one.
  int ahead = 0;
  // By processor, the process it is in; empty: all are in one. What a process adds to a copy of its own, it receives
  // from others in parts, for which it has two staging buffers a processor.
  std::vector<int> processes;

  MemoryOptions(Reach r) : reach(std::move(r)) {}  // NOLINT(google-explicit-constructor): the most common case
  bool apart(int64_t p, int64_t q) const {
    return !processes.empty() && processes[static_cast<size_t>(p)] != processes[static_cast<size_t>(q)];
  }
  // Whether what a processor releases ends in the piece of another process that it can touch: it then stores or adds
  // it there itself.
  bool in_reach(const Transfer& t) const {
    return ends_at_home(t) && apart(t.source, t.destination) && reach.together(t.source, t.destination);
  }
};

// Partials travel between processes in parts of at most so many bytes.
inline constexpr int64_t kStagingBytes = 2 << 20;
std::vector<Rect> staged_parts(const Rect& rect, int64_t element_bytes);

// The buffer of one acquire at one place: as large as its largest step needs, and two of them where a copy must
// outlive its step, as a neighbour's source or to keep what the next step shares with it; more to work ahead.
struct BufferNeed {
  int64_t bytes = 0;
  int depth = 1;
};

// By rectangle of a fetch, where it can be used without a copy: the owner of the piece it lies in, or -1.
std::vector<int64_t> views_of(const Plan& plan, const AcquirePlan& acquire, const Fetch& fetch, const Reach& reach);
// The rectangles that are copied, each once though several accesses ask for it.
std::vector<size_t> copied_rects(const std::vector<Rect>& rects, const std::vector<int64_t>& views);

struct MemoryNeeds {
  MemoryOptions options = Reach::own();
  // [stage][acquire id][place]
  std::vector<std::vector<std::unordered_map<int64_t, BufferNeed>>> buffers;
  std::vector<int64_t> workspace_bytes;  // by stage: of each processor that runs its leaf
  // [stage][processor]: of one of its two staging buffers
  std::vector<std::unordered_map<int64_t, int64_t>> staging_bytes;
  std::vector<int64_t> home_bytes;  // by processor: pieces
  std::vector<int64_t> peak;        // by processor: pieces and buffers
  int64_t peak_per_processor = 0;   // of the processor that needs most
  int64_t total = 0;                // of all processors together
};

MemoryNeeds memory_needs(const Plan& plan, const MemoryOptions& options);
// With as many steps ahead as `fits` lets it, up to those of the options. More than one step ahead must be cheap.
MemoryNeeds needs_ahead(const Plan& plan, MemoryOptions options, const std::function<bool(const MemoryNeeds&)>& fits);
inline constexpr int kStepsAhead = 3;  // at most, on ranks
// What the pieces of all tensors take, by processor.
std::vector<int64_t> home_bytes(const Plan& plan);

}  // namespace distal::core
