#pragma once

#include <vector>

#include "plan/plan.h"

namespace distal::core {

// What one access touches: the product of runs of coordinates, one list of them a dimension. One rectangle as a rule;
// where blocks are dealt out, one for each. They stand side by side in a list, the last dimension's runs fastest.
struct Region {
  size_t first = 0;  // of its rectangles in the list
  Coordinates runs;  // how many each dimension has

  bool operator==(const Region&) const = default;
};

// Appends what an access of an acquire touches at a place. The intervals are those of the place there.
Region add_region(const StagePlan& stage, const AcquirePlan& acquire, const std::vector<int>& access, int64_t place,
                  const std::vector<int64_t>& values, const std::vector<Interval<int64_t>>& intervals,
                  std::vector<Rect>& rects);

// Which rectangle of a region has an element, if any of them does.
size_t rect_at(const Region& region, const std::vector<Rect>& rects, const Coordinates& element);

// The rectangles of a region that overlap another one, in their order.
std::vector<size_t> overlapping(const Region& region, const std::vector<Rect>& rects, const Rect& other);

// Symbols do not know everything: takes the loops out of `blocks` that leave no holes at any step of the plan.
void drop_blocks_without_holes(StagePlan& stage);

}  // namespace distal::core
