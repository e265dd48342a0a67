#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace distal::python {

// An array of a few elements in memory, by its extents and its strides in elements.
struct SmallArray {
  std::byte* data;
  const std::vector<int64_t>& extents;
  const std::vector<int64_t>& strides;
};

// Copies the elements of one array into another of the same extents.
void copy_small(const SmallArray& to, const SmallArray& from, size_t element_bytes);

}  // namespace distal::python
