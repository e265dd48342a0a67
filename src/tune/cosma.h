#pragma once

#include <cstdint>

#include "support/error.h"

namespace distal::core {

// COSMA's planner (Kwasniewski et al., "Red-blue pebbling revisited", SC19) for A(i,j) = B(i,k) * C(k,j).
struct CosmaProblem {
  int64_t ni = 1, nj = 1, nk = 1;
  int64_t processors = 1;
  int64_t bytes_per_processor = 0;
  int64_t element_size = 8;
  double max_idle = 0.03;  // the part of the processors that may be left idle
};

// As many steps as a plan can have, of all processors together. A processor makes at least one.
inline constexpr int64_t kMostCosmaSteps = 10'000'000;
// All grids of this many processors are looked through in seconds.
inline constexpr int64_t kMostCosmaProcessors = 1'000'000;

// The params of algorithms/cosma.distal, and what they lead to. The processors form a grid gx * gy * gz; on each,
// k runs in `steps` sequential steps; seqi and seqj split i and j in a loop above the launch.
struct CosmaPlan {
  int64_t gx = 1, gy = 1, gz = 1;
  int64_t steps = 1;
  int64_t seqi = 1, seqj = 1;

  int64_t used_processors = 1;
  int64_t idle_processors = 0;
  bool memory_forces_idle = false;   // more than the bound are idle, as no other plan fits in memory
  int64_t bytes_moved = 0;           // by all processors together
  int64_t bytes_in_and_out = 0;      // what COSMA minimises: B and C into a processor and A out of it, owned or not
  int64_t memory_per_processor = 0;  // in bytes, on the most loaded one

  bool operator==(const CosmaPlan&) const = default;
};

// COSMA's rule. Of the grids that leave at most `max_idle` of the processors idle, or one where that is a tenth or
// less, the one with the fewest bytes in and out of a processor, of those that fit in memory. Processors that a small
// problem has no work for do not count. A grid takes the fewest steps that fit, as more do not move more; and
// sequential parts, which do, only if even the shortest steps do not fit. Only where none of these plans fits are more
// processors left idle. So as long as memory does not force that, more memory never means more bytes.
//
// Throws Error of Kind::Resources where no plan fits, with what a processor has and the least it needs: with that
// there is a plan.
CosmaPlan plan_cosma(const CosmaProblem& problem);

}  // namespace distal::core
