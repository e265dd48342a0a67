#pragma once

#include <span>
#include <vector>

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

// Runs a kernel over boxes that can be joined, cut into a part for each thread of the team: along an index of the
// output, or, where that has none that is long enough, along a sum, with an output of each thread's own that is added
// in the end.
void share(const BoxKernel& kernel, std::span<const Box> boxes, ElementType type, bool begin, Team* team);

// The same for boxes that add to one output one after the other, each by the first of the kernels that takes it, and
// joined where that can be, in the order of their indices: what lies one behind the other is then one piece.
void share_in_turn(const BoxKernels& kernels, std::vector<Box> boxes, ElementType type, bool begin, Team* team);

}  // namespace distal::core
