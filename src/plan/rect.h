#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checked.h"

namespace distal::core {

// A point of a tensor or of a machine. Plans make millions of points, so points of up to four dimensions need no
// allocation.
using Coordinates = absl::InlinedVector<int64_t, 4>;

// lo <= x < hi in every dimension. A scalar's rectangle has no dimensions and holds one element.
struct Rect {
  Coordinates lo;
  Coordinates hi;

  size_t dimensions() const { return lo.size(); }
  bool empty() const {
    for (size_t d = 0; d < lo.size(); ++d) {
      if (lo[d] >= hi[d]) return true;
    }
    return false;
  }
  int64_t volume() const {
    int64_t v = 1;
    for (size_t d = 0; d < lo.size(); ++d) v *= std::max<int64_t>(0, hi[d] - lo[d]);
    return v;
  }
  bool contains(const Rect& other) const {
    for (size_t d = 0; d < lo.size(); ++d) {
      if (other.lo[d] < lo[d] || other.hi[d] > hi[d]) return false;
    }
    return true;
  }
  bool operator==(const Rect&) const = default;
};

inline Rect intersect(const Rect& a, const Rect& b) {
  Rect r = a;
  for (size_t d = 0; d < r.lo.size(); ++d) {
    r.lo[d] = std::max(a.lo[d], b.lo[d]);
    r.hi[d] = std::min(a.hi[d], b.hi[d]);
  }
  return r;
}

inline bool overlap(const Rect& a, const Rect& b) {
  for (size_t d = 0; d < a.lo.size(); ++d) {
    if (std::max(a.lo[d], b.lo[d]) >= std::min(a.hi[d], b.hi[d])) return false;
  }
  return true;
}

// All of a tensor of this shape.
inline Rect whole(const Coordinates& shape) { return {Coordinates(shape.size(), 0), shape}; }

// Calls f for every point of a rectangle, last dimension fastest.
template <class F>
void for_each_point(const Rect& rect, F&& f) {
  if (rect.empty()) return;
  Coordinates at = rect.lo;
  while (true) {
    f(at);
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == rect.hi[d - 1]) {
      at[d - 1] = rect.lo[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

// Appends disjoint rectangles that together are a without b.
void subtract(const Rect& a, const Rect& b, std::vector<Rect>& out);

// Disjoint rectangles that together are a without all of bs.
std::vector<Rect> subtract(const Rect& a, const std::vector<Rect>& bs);

// Parts of at most `max_elements` elements, cut along the outermost dimensions.
std::vector<Rect> cut_up(const Rect& rect, int64_t max_elements);

size_t hash_of(const std::vector<Rect>& rects);

struct RectListHash {
  size_t operator()(const std::vector<Rect>& rects) const { return hash_of(rects); }
};

std::string to_string(const Rect& rect);  // "[0:4, 8:12]"

}  // namespace distal::core
