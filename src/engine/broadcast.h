#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "plan/rect.h"

namespace distal::core {

// A part of a fetch that another process sends, and the rectangle of the fetch whose memory receives it.
struct Delivery {
  size_t rect = 0;
  Rect part;

  bool operator==(const Delivery&) const = default;
};

// What one source sends to one place at a step.
struct Route {
  int64_t source = 0, place = 0;
  std::vector<Delivery> parts;
};

// By place and source: the place that forwards the source's data. A pair without an entry is served by the source.
using Relays = std::map<std::pair<int64_t, int64_t>, int64_t>;

// Relieves a source that would send much more at one step than any process receives: data that several places get alike
// travels along a binomial tree. The relay of a place comes before it in `routes`. `processes` is by processor.
Relays broadcast_trees(const std::vector<Route>& routes, const std::vector<int>& processes);

}  // namespace distal::core
