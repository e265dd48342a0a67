#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "plan/rect.h"

namespace distal::core {

// A part of a fetch that comes from another process, into the memory of one of its rectangles.
struct Delivery {
  size_t rect = 0;
  Rect part;

  bool operator==(const Delivery&) const = default;
};

// What one source has for one place at a step.
struct Leg {
  int64_t source = 0, place = 0;
  std::vector<Delivery> parts;
};

// Who hands on to a place what a source has for it, where that is not the source itself: by place and source.
using Carriers = std::map<std::pair<int64_t, int64_t>, int64_t>;

// A source that would send much more at one step than anybody receives is a bottleneck. What it has for several places
// alike then travels along a binomial tree: a place hands it on that came before in `legs`. `processes` is by
// processor.
Carriers broadcast_trees(const std::vector<Leg>& legs, const std::vector<int>& processes);

}  // namespace distal::core
