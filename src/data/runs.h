#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace distal::core {

// Calls f(first, count) for the runs of consecutive elements that are the rectangle lo <= x < hi of a dense array, in
// the order in which they lie. `order` has the dimensions of the array, outermost first.
template <class F>
void for_each_run(std::span<const int64_t> shape, std::span<const int> order, std::span<const int64_t> lo,
                  std::span<const int64_t> hi, F&& f) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (lo[d] >= hi[d]) return;
  }
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = order.size(); i-- > 1;) strides[order[i - 1]] = strides[order[i]] * shape[order[i]];
  // A run spans the innermost dimensions in which the rectangle is as wide as the array, and one dimension more.
  int64_t count = 1;
  size_t loops = order.size();
  for (bool is_whole = true; loops > 0 && is_whole; --loops) {
    int d = order[loops - 1];
    count *= hi[d] - lo[d];
    is_whole = hi[d] - lo[d] == shape[d];
  }
  int64_t first = 0;
  for (size_t d = 0; d < shape.size(); ++d) first += lo[d] * strides[d];
  std::vector<int64_t> at(lo.begin(), lo.end());
  while (true) {
    f(first, count);
    size_t i = loops;
    for (; i > 0; --i) {
      int d = order[i - 1];
      first += strides[d];
      if (++at[d] < hi[d]) break;
      first -= (hi[d] - lo[d]) * strides[d];
      at[d] = lo[d];
    }
    if (i == 0) return;
  }
}

}  // namespace distal::core
