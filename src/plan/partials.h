#pragma once

#include <vector>

#include "plan/walk.h"

namespace distal::core {

// The partials of one rectangle, and where their sum goes.
struct PartialSum {
  Rect rect;
  std::vector<int64_t> sources;  // ascending
  int64_t destination = 0;
  Transfer::Kind kind = Transfer::Kind::CombineHome;  // of the transfers to the destination
  // Partials are combined within each group that shares this many levels, and within all smaller groups before.
  int outermost = 1;
  // A source that shares this many levels with the destination adds there directly, and no data moves.
  int place_levels = 1;
};

// The transfers of all sums of one step. Level by level from the innermost, the partials of a group of processors are
// combined at its first source before they leave the group. The group of the destination combines at the destination.
// If a destination would receive more than twice what any source sends, partials are combined along binomial trees.
std::vector<Transfer> combine(const MachineShape& machine, const std::vector<PartialSum>& sums);

}  // namespace distal::core
