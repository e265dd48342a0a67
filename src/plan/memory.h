#pragma once

#include <unordered_map>
#include <vector>

#include "plan/walk.h"

namespace distal::core {

// Whether a processor's memory is apart from the others', as on a cluster, or all are one address space, so that a
// rectangle that lies in one piece of anybody's can be used there.
enum class Reach { Own, All };

// The buffer of one acquire at one place: as large as its largest step needs, and two of them where a copy must
// outlive its step, as a neighbour's source or to keep what the next step shares with it.
struct BufferNeed {
  int64_t bytes = 0;
  int depth = 1;
};

// Where a rectangle can be used without a copy: the owner of the piece it lies in, or -1.
int64_t view_of(const Plan& plan, const AcquirePlan& acquire, const Fetch& fetch, size_t rect, Reach reach);

struct MemoryNeeds {
  Reach reach = Reach::Own;
  // [stage][acquire id][place]
  std::vector<std::vector<std::unordered_map<int64_t, BufferNeed>>> buffers;
  std::vector<int64_t> workspace_bytes;  // by stage: of each processor that runs its leaf
  std::vector<int64_t> home_bytes;       // by processor, all tensors
  int64_t peak_per_processor = 0;        // pieces and buffers of the processor that needs most
  int64_t total = 0;                     // of all processors together
};

MemoryNeeds memory_needs(const Plan& plan, Reach reach);

}  // namespace distal::core
