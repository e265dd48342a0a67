#pragma once

#include <vector>

#include "plan/walk.h"

namespace distal::core {

// Partials of the same rectangle, and where their sum goes.
struct PartialSum {
  Rect rect;
  std::vector<int64_t> sources;  // ascending
  int64_t destination = 0;
  Transfer::Kind kind = Transfer::Kind::CombineHome;  // at the destination
  int outermost = 1;     // the level from whose parts on partials meet before they leave them
  int place_levels = 1;  // a source that shares as many with the destination sends nothing
};

// The transfers of all sums of one step. Partials meet at the first of them in each part of the machine before they
// leave it, level by level from the innermost; those in the destination's own part go straight there. Where somebody
// would take in much more than anybody sends, they meet along binomial trees in place of all at one.
std::vector<Transfer> combine(const MachineShape& machine, const std::vector<PartialSum>& sums);

}  // namespace distal::core
