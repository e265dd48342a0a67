#include "store/view.h"

#include <algorithm>
#include <cstring>

#include "support/non_temporal_copy.h"

namespace distal::core {

namespace {

constexpr size_t kMinNonTemporalBytes = 4096;  // shorter lines do not gain from non-temporal stores

// The dimensions of a rectangle as loops; the one with the smallest stride in the target is innermost.
struct CopyLoops {
  Coordinates extents, to, from;
  int64_t to_start = 0, from_start = 0;

  // Adds a loop inside the others. Fuses it with the loop around it if the two are contiguous in both views.
  void add(int64_t extent, int64_t to_step, int64_t from_step) {
    if (extents.empty() || to.back() != extent * to_step || from.back() != extent * from_step) {
      extents.push_back(1);
      to.push_back(0);
      from.push_back(0);
    }
    extents.back() *= extent;
    to.back() = to_step;
    from.back() = from_step;
  }
};

// The dimensions by descending stride. Insertion sort, so that a copy of a small rectangle allocates nothing.
absl::InlinedVector<size_t, 4> by_descending_stride(const Coordinates& strides) {
  absl::InlinedVector<size_t, 4> order;
  for (size_t d = 0; d < strides.size(); ++d) {
    auto at = order.end();
    while (at != order.begin() && strides[*(at - 1)] < strides[d]) --at;
    order.insert(at, d);
  }
  return order;
}

CopyLoops loops_of(const View& to, const View& from, const Rect& rect) {
  CopyLoops loops;
  loops.to_start = to.offset;
  loops.from_start = from.offset;
  for (size_t d : by_descending_stride(to.strides)) {
    loops.add(rect.hi[d] - rect.lo[d], to.strides[d], from.strides[d]);
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

View moved_by(View view, const Coordinates& offset) {
  for (size_t d = 0; d < offset.size(); ++d) view.offset += offset[d] * view.strides[d];
  return view;
}

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

void clear_rect(ElementType type, const View& to, const Rect& rect) {
  if (rect.empty()) return;
  CopyLoops loops = loops_of(to, to, rect);
  with_element_type(type, [&](auto zero) {
    auto* target = reinterpret_cast<decltype(zero)*>(to.data);
    for_each_row(loops, 0, loops.to_start, loops.to_start, [&](int64_t t, int64_t, int64_t n, int64_t step, int64_t) {
      if (step == 1) {
        std::fill_n(target + t, n, zero);
      } else {
        for (int64_t i = 0; i < n; ++i) target[t + i * step] = zero;
      }
    });
  });
}

void copy_rect(ElementType type, const View& to, const View& from, const Rect& rect, StoreKind stores) {
  if (rect.empty()) return;
  CopyLoops loops = loops_of(to, from, rect);
  auto copy_line = [&](std::byte* target, const std::byte* source, size_t bytes) {
    if (stores == StoreKind::NonTemporal && bytes >= kMinNonTemporalBytes)
      return copy_non_temporal(target, source, bytes);
    std::memcpy(target, source, bytes);
  };
  with_element_type(type, [&](auto zero) {
    using T = decltype(zero);
    auto* target = reinterpret_cast<T*>(to.data);
    const auto* source = reinterpret_cast<const T*>(from.data);
    for_each_row(loops, 0, loops.to_start, loops.from_start,
                 [&](int64_t t, int64_t f, int64_t n, int64_t ts, int64_t fs) {
                   if (ts == 1 && fs == 1) {
                     auto size = static_cast<int64_t>(sizeof(T));
                     copy_line(to.data + t * size, from.data + f * size, static_cast<size_t>(n * size));
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
