#include "store/view.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace distal::core {

namespace {

// The dimensions of a rectangle as loops, the one with the smallest step in the target innermost.
struct CopyLoops {
  Coordinates extents, to, from;
  int64_t to_start = 0, from_start = 0;
};

CopyLoops loops_of(const View& to, const View& from, const Rect& rect) {
  CopyLoops loops;
  loops.to_start = to.offset;
  loops.from_start = from.offset;
  std::vector<size_t> order(rect.lo.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return to.strides[a] > to.strides[b]; });
  for (size_t d : order) {
    loops.extents.push_back(rect.hi[d] - rect.lo[d]);
    loops.to.push_back(to.strides[d]);
    loops.from.push_back(from.strides[d]);
    loops.to_start += rect.lo[d] * to.strides[d];
    loops.from_start += rect.lo[d] * from.strides[d];
  }
  return loops;
}

// Calls row(to, from, count, to_step, from_step) for every innermost line.
template <class Row>
void for_each_row(const CopyLoops& l, size_t d, int64_t to, int64_t from, const Row& row) {
  if (l.extents.empty()) return row(to, from, 1, 1, 1);
  if (d + 1 == l.extents.size()) return row(to, from, l.extents[d], l.to[d], l.from[d]);
  for (int64_t i = 0; i < l.extents[d]; ++i) for_each_row(l, d + 1, to + i * l.to[d], from + i * l.from[d], row);
}

}  // namespace

Coordinates dense_strides(const Coordinates& extents, const std::vector<int>& order) {
  Coordinates strides(extents.size(), 1);
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(1, extents[order[i]]);
  }
  return strides;
}

View dense_view(std::byte* data, const Rect& rect, const std::vector<int>& order) {
  Coordinates extents(rect.lo.size());
  for (size_t d = 0; d < extents.size(); ++d) extents[d] = rect.hi[d] - rect.lo[d];
  View view{data, 0, dense_strides(extents, order)};
  for (size_t d = 0; d < extents.size(); ++d) view.offset -= rect.lo[d] * view.strides[d];
  return view;
}

void copy_rect(ElementType type, const View& to, const View& from, const Rect& rect) {
  if (rect.empty()) return;
  CopyLoops loops = loops_of(to, from, rect);
  with_element_type(type, [&](auto zero) {
    using T = decltype(zero);
    auto* target = reinterpret_cast<T*>(to.data);
    const auto* source = reinterpret_cast<const T*>(from.data);
    for_each_row(loops, 0, loops.to_start, loops.from_start,
                 [&](int64_t t, int64_t f, int64_t n, int64_t ts, int64_t fs) {
                   if (ts == 1 && fs == 1) {
                     std::memcpy(target + t, source + f, static_cast<size_t>(n) * sizeof(T));
                   } else {
                     for (int64_t i = 0; i < n; ++i) target[t + i * ts] = source[f + i * fs];
                   }
                 });
  });
}

void add_rect(ElementType type, const View& to, const View& from, const Rect& rect) {
  if (rect.empty()) return;
  CopyLoops loops = loops_of(to, from, rect);
  with_element_type(type, [&](auto zero) {
    using T = decltype(zero);
    auto* target = reinterpret_cast<T*>(to.data);
    const auto* source = reinterpret_cast<const T*>(from.data);
    for_each_row(loops, 0, loops.to_start, loops.from_start,
                 [&](int64_t t, int64_t f, int64_t n, int64_t ts, int64_t fs) {
                   for (int64_t i = 0; i < n; ++i) {
                     target[t + i * ts] = wrapping_add(target[t + i * ts], source[f + i * fs]);
                   }
                 });
  });
}

}  // namespace distal::core
