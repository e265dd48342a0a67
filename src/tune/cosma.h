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
  double max_idle = 0.03;  // the fraction of the processors that may be left idle
};

// The most steps that a plan can have, counted over all processors. Each processor has at least one.
inline constexpr int64_t kMostCosmaSteps = 10'000'000;
// The search of all grids of this many processors takes seconds.
inline constexpr int64_t kMostCosmaProcessors = 1'000'000;

// The params of algorithms/cosma.distal, and their costs. The processors form a grid gx * gy * gz. Each runs k in
// `steps` sequential steps. seqi and seqj split i and j into sequential parts, in loops above the launch.
struct CosmaPlan {
  int64_t gx = 1, gy = 1, gz = 1;
  int64_t steps = 1;
  int64_t seqi = 1, seqj = 1;

  int64_t used_processors = 1;
  int64_t idle_processors = 0;
  bool memory_forces_idle = false;   // more are idle than max_idle allows, because no other plan fits
  int64_t bytes_moved = 0;           // by all processors together
  int64_t bytes_in_and_out = 0;      // what COSMA minimises: B and C into a processor and A out of it, owned or not
  int64_t memory_per_processor = 0;  // in bytes, on the most loaded processor

  bool operator==(const CosmaPlan&) const = default;
};

// Finds a plan by COSMA's rule:
// - At most `max_idle` of the processors are idle, or one processor if that is a tenth or less of them. Processors for
//   which a small problem has no work do not count.
// - The grid has the fewest bytes in and out of a processor among those that fit in memory.
// - The plan has the fewest steps that fit in memory. More steps do not move more bytes.
// - Sequential parts move more bytes. They are used only if even the shortest steps do not fit.
// - More processors than that are idle only if no other plan fits. Apart from this exception, more memory never leads
// to
//   more bytes.
//
// Throws Error of Kind::Resources if no plan fits. The error says how much memory a processor has, and the least that
// it needs; with that much there is a plan.
CosmaPlan plan_cosma(const CosmaProblem& problem);

}  // namespace distal::core
