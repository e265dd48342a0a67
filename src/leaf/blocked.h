#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "leaf/box_kernel.h"

namespace distal::core {

// A product of factors, two of which are multiplied as matrices: summed over what only these two have. The rest of the
// factors is multiplied to the result, block by block, on its way to the output, so nothing is ever materialised.
struct Blocking {
  size_t left = 1, right = 2;                      // operands
  std::vector<size_t> rows, columns, sums, batch;  // axes: the left one's, the right one's, and both's
};

// The best such view of a box whose operands 1, 2, ... are the factors, and whether it pays. Several boxes must differ
// in nothing but how long their sums are, and where the two operands lie: they then are one, with a longer sum.
std::optional<Blocking> best_blocking(std::span<const Box> boxes, int64_t element_bytes);
inline std::optional<Blocking> best_blocking(const Box& box, int64_t element_bytes) {
  return best_blocking(std::span(&box, 1), element_bytes);
}
bool pays(const Box& box, const Blocking& blocking, int64_t element_bytes);

// The kernel for a term that is a product of two or more; null for other terms, and for complex numbers.
std::unique_ptr<BoxKernel> make_blocked_kernel(const LeafTerm& term, ElementType type);

}  // namespace distal::core
