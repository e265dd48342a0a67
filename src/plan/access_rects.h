#pragma once

#include <vector>

#include "plan/plan.h"

namespace distal::core {

// The rectangles that one access touches, as consecutive entries of a list. They are the product of the coordinate runs
// of all dimensions, in row-major order. Usually there is one rectangle; an acquire in blocks has one per combination
// of blocks.
struct AccessRects {
  size_t first = 0;    // the index of the first rectangle in the list
  Coordinates counts;  // the number of runs of each dimension

  bool operator==(const AccessRects&) const = default;
};

// Appends the rectangles that an access of an acquire touches at a place to `rects`. `intervals` are those that
// bounds_at gives for the acquire at that place.
AccessRects add_access_rects(const StagePlan& stage, const AcquirePlan& acquire, const PlacedAccess& access,
                             int64_t place, const std::vector<int64_t>& values,
                             const std::vector<Interval<int64_t>>& intervals, std::vector<Rect>& rects);

// The index in `rects` of the access's rectangle that contains the element. If none does, the index of an arbitrary
// rectangle of the access.
size_t rect_at(const AccessRects& access, const std::vector<Rect>& rects, const Coordinates& element);

// The indices in `rects` of the access's rectangles that overlap `other`, in ascending order.
std::vector<size_t> overlapping(const AccessRects& access, const std::vector<Rect>& rects, const Rect& other);

// Removes the loops from each acquire's `blocks` that leave no holes at these params. Lowering decides by symbols, so
// it has to keep some of them.
void drop_blocks_without_holes(StagePlan& stage);

}  // namespace distal::core
