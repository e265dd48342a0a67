#pragma once

#include <functional>
#include <memory>
#include <optional>
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

using BlockingTest = std::function<bool(const Blocking&)>;

// The best pair of factors to multiply as matrices, of those that pass the test; the operands 1, 2, ... of the box are
// the factors.
std::optional<Blocking> best_blocking(const BoxShape& box, int64_t element_bytes, const BlockingTest& suits = {});
// Whether register blocks are worthwhile for this box.
bool pays(const BoxShape& box, const Blocking& blocking, int64_t element_bytes);

// A kernel for a term that is a product of two or more factors; null for other terms, and for complex numbers.
std::unique_ptr<BoxKernel> make_blocked_kernel(const LeafTerm& term, ElementType type);

}  // namespace distal::core
