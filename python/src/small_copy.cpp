#include "small_copy.h"

#include <cstring>

namespace distal::python {

namespace {

void copy_from_dimension(size_t d, std::byte* to, const SmallArray& target, const std::byte* from,
                         const SmallArray& source, int64_t bytes) {
  if (d == target.extents.size()) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  for (int64_t x = 0; x < target.extents[d]; ++x) {
    copy_from_dimension(d + 1, to + x * target.strides[d] * bytes, target, from + x * source.strides[d] * bytes, source,
                        bytes);
  }
}

}  // namespace

void copy_small(const SmallArray& to, const SmallArray& from, size_t element_bytes) {
  copy_from_dimension(0, to.data, to, from.data, from, static_cast<int64_t>(element_bytes));
}

}  // namespace distal::python
