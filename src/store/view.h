#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lang/element_type.h"
#include "plan/rect.h"

namespace distal::core {

// A rectangle of a tensor in memory. The element at point x of the tensor is data[offset + sum of x[d] * strides[d]],
// in units of elements.
struct View {
  std::byte* data = nullptr;
  int64_t offset = 0;
  Coordinates strides;
};

// The view whose element at x is that of `view` at x + offset.
View moved_by(View view, const Coordinates& offset);

// The strides of a dense block with the given storage order, outermost dimension first.
Coordinates dense_strides(const Coordinates& extents, const std::vector<int>& order);

// A dense block holding exactly `rect`.
View dense_view(std::byte* data, const Rect& rect, const std::vector<int>& order);

// to[x] = 0, for every x in rect.
void clear_rect(ElementType type, const View& to, const Rect& rect);
// NonTemporal: stores that bypass the caches, for data that is not read again soon. Short lines use cached stores
// anyway.
enum class StoreKind { Cached, NonTemporal };
// to[x] = from[x], for every x in rect.
void copy_rect(ElementType type, const View& to, const View& from, const Rect& rect,
               StoreKind stores = StoreKind::Cached);
// to[x] += from[x], for every x in rect.
void add_rect(ElementType type, const View& to, const View& from, const Rect& rect);

}  // namespace distal::core
