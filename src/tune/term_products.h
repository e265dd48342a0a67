#pragma once

#include <vector>

#include "lang/index_notation.h"
#include "tune/contraction.h"

namespace distal::core {

// A term of a statement as a product. Indices are numbers of `variables(statement)`.
struct TermProduct {
  std::vector<Expr> factors;  // those with tensors
  Product product;
};

// The additive terms of a statement. `extents` has the extent of each of its variables.
std::vector<TermProduct> term_products(const Statement& statement, const std::vector<int64_t>& extents);

// The flops of the kernels that compute a statement as it is written.
double kernel_flops(const Statement& statement, const std::vector<int64_t>& extents);

}  // namespace distal::core
