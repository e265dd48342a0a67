#pragma once

#include <span>
#include <vector>

#include "leaf/box_kernel.h"
#include "support/team.h"

namespace distal::core {

// Below this many points the leaf ends before a second thread can start.
inline constexpr double kWorthSharing = 1 << 19;
// With this many iterations for each thread, it does not matter that one thread has one more than another.
inline constexpr int64_t kBalancedIterations = 8;

// The iterations from `first` to before `last`.
struct IterationRange {
  int64_t first, last;
};
// The share of one thread, number `part` of `parts`, when the iterations are divided evenly.
IterationRange thread_range(int64_t iterations, int64_t part, int64_t parts);

// Runs a kernel on boxes that can be joined, divided among the threads of the team. The boxes are cut along an index of
// the output. If none is long enough, they are cut along a sum, and each thread has an output of its own that is added
// at the end.
void share(const BoxKernel& kernel, std::span<const Box> boxes, ElementType type, bool overwrite, Team* team);

// The same for boxes that add to one output one after the other. Each runs on the first kernel that takes it.
// Consecutive boxes are joined if possible, in the order of their indices, because adjacent boxes are then contiguous.
void share_in_turn(const BoxKernels& kernels, std::vector<Box> boxes, ElementType type, bool overwrite, Team* team);

}  // namespace distal::core
