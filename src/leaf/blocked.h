#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lang/index_role.h"
#include "leaf/box_kernel.h"

namespace distal::core {

// A product of factors seen as a matrix multiply of two of them, summed over the indices that only these two have. Each
// register block of the result is multiplied by the other factors before it goes to the output, so there is no
// temporary.
struct Blocking : IndicesByRole<std::vector<size_t>> {  // of axes
  size_t left = 1, right = 2;                           // operands
};

// The best pair of factors to multiply as matrices; the operands 1, 2, ... of the box are the factors. Several boxes
// count as one box with a longer sum. They may differ only in the extents of their sums and the addresses of the two
// operands.
std::optional<Blocking> best_blocking(std::span<const Box> boxes, int64_t element_bytes);
inline std::optional<Blocking> best_blocking(const Box& box, int64_t element_bytes) {
  return best_blocking(std::span(&box, 1), element_bytes);
}
// Whether register blocks are worthwhile for this box.
bool pays(const Box& box, const Blocking& blocking, int64_t element_bytes);

// A kernel for a term that is a product of two or more factors; null for other terms, and for complex numbers.
std::unique_ptr<BoxKernel> make_blocked_kernel(const LeafTerm& term, ElementType type);

}  // namespace distal::core
