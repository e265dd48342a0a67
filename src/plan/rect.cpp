#include "plan/rect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace distal::core {

void subtract(const Rect& a, const Rect& b, std::vector<Rect>& out) {
  if (!overlap(a, b)) {
    out.push_back(a);
    return;
  }
  // For each dimension, split off the parts of `rest` before and behind b. What remains at the end lies inside b.
  Rect rest = a;
  for (size_t d = 0; d < a.lo.size(); ++d) {
    if (rest.lo[d] < b.lo[d]) {
      Rect before = rest;
      before.hi[d] = b.lo[d];
      out.push_back(before);
      rest.lo[d] = b.lo[d];
    }
    if (rest.hi[d] > b.hi[d]) {
      Rect behind = rest;
      behind.lo[d] = b.hi[d];
      out.push_back(behind);
      rest.hi[d] = b.hi[d];
    }
  }
}

std::vector<Rect> cut_up(const Rect& rect, int64_t max_elements) {
  size_t d = 0;
  while (d < rect.dimensions() && rect.hi[d] - rect.lo[d] == 1) ++d;
  if (rect.volume() <= max_elements || d >= rect.dimensions()) return {rect};
  int64_t row = rect.volume() / (rect.hi[d] - rect.lo[d]);
  int64_t rows = std::max<int64_t>(1, max_elements / row);
  std::vector<Rect> out;
  for (int64_t lo = rect.lo[d]; lo < rect.hi[d]; lo += rows) {
    Rect part = rect;
    part.lo[d] = lo;
    part.hi[d] = std::min(rect.hi[d], lo + rows);
    for (Rect& p : cut_up(part, max_elements)) out.push_back(std::move(p));
  }
  return out;
}

std::vector<Rect> subtract(const Rect& a, const std::vector<Rect>& bs) {
  std::vector<Rect> left{a};
  for (const Rect& b : bs) {
    if (!overlap(a, b)) continue;
    std::vector<Rect> next;
    for (const Rect& r : left) subtract(r, b, next);
    left = std::move(next);
  }
  return left;
}

size_t hash_of(const std::vector<Rect>& rects) {
  uint64_t h = 0x9e3779b97f4a7c15ULL;
  auto mix = [&](int64_t v) {
    h ^= static_cast<uint64_t>(v);
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  };
  for (const Rect& r : rects) {
    for (size_t d = 0; d < r.lo.size(); ++d) {
      mix(r.lo[d]);
      mix(r.hi[d]);
    }
  }
  return static_cast<size_t>(h);
}

std::string to_string(const Rect& rect) {
  std::vector<std::string> dims;
  for (size_t d = 0; d < rect.lo.size(); ++d) dims.push_back(fmt::format("{}:{}", rect.lo[d], rect.hi[d]));
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

}  // namespace distal::core
