#pragma once

#include "leaf/box_kernel.h"
#include "support/team.h"

namespace distal::core {

// Fewer points than this are done sooner than a second thread has begun.
inline constexpr double kWorthSharing = 1 << 19;
// With this many steps for each thread, one step more or less for one of them does not count.
inline constexpr int64_t kManyParts = 8;

// What a thread takes of so many steps: its part of `parts`, as even as can be.
struct Range {
  int64_t first, last;
};
Range thread_range(int64_t steps, int64_t part, int64_t parts);

// Runs a kernel over a box, cut into a part for each thread of the team: along an index of the output, or, where that
// has none that is long enough, along a sum, with an output of each thread's own that is added in the end.
void share(const BoxKernel& kernel, const Box& box, ElementType type, bool begin, Team* team);

}  // namespace distal::core
