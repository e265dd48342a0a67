#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lang/element_type.h"
#include "plan/rect.h"

namespace distal::core {

// A rectangle of a tensor somewhere in memory: element x lies at data[offset + sum of x[d] * strides[d]], counted in
// elements. The coordinates are the tensor's own.
struct View {
  std::byte* data = nullptr;
  int64_t offset = 0;
  Coordinates strides;
};

// The strides of a dense block with the given storage order, outermost dimension first.
Coordinates dense_strides(const Coordinates& extents, const std::vector<int>& order);

// A dense block holding exactly `rect`.
View dense_view(std::byte* data, const Rect& rect, const std::vector<int>& order);

// to[x] = 0, for every x in rect.
void clear_rect(ElementType type, const View& to, const Rect& rect);
// For what nobody reads soon, a copy may pass the caches by.
enum class Caches { Fill, Pass };
// to[x] = from[x], and to[x] += from[x], for every x in rect.
void copy_rect(ElementType type, const View& to, const View& from, const Rect& rect, Caches caches = Caches::Fill);
void add_rect(ElementType type, const View& to, const View& from, const Rect& rect);

}  // namespace distal::core
