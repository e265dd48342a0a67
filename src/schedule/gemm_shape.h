#pragma once

#include <string>
#include <vector>

#include "ir/concrete.h"

namespace distal::core {

// Which variables of the statement play the rows, the columns and the sum of a matrix multiply, and which operand of
// the product brings the rows.
struct GemmShape {
  IndexVar rows, columns, sum;
  Access output, left, right;  // left has rows and sum, right has sum and columns
};

// The shape of the loops `variables` under the rest of the nest held still.
GemmShape gemm_shape(const Nest& nest, const std::vector<IndexVar>& variables);

// Why they have no such shape; empty if they have one.
std::string why_not_gemm(const Nest& nest, const std::vector<IndexVar>& variables);

}  // namespace distal::core
