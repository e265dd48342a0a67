#pragma once

#include <string>
#include <vector>

#include "lang/index_role.h"
#include "program/program.h"

namespace distal::core {

// The BLAS operation that a term is: gemm, gemv, outer products or inner products, perhaps in a loop; or why it is
// none. The term must be a product of two accesses in which each index occurs in at least two of the three tensors: in
// the output and the left operand (a row), in the output and the right operand (a column), in both operands (a sum), or
// in all three (a batch). The order of the loops does not matter.
struct BlasForm {
  std::string name;
  std::string why_not;  // empty if there is a name
};
BlasForm blas_form(const Compute& compute, const LeafTerm& term, const std::vector<std::string>& names,
                   ElementType type);

// The operation of a product whose indices have these roles.
template <class All>
std::string blas_name(const IndicesByRole<All>& indices) {
  if (indices.sums.empty()) return "outer products";
  if (indices.rows.empty() && indices.columns.empty()) return "inner products";
  return indices.is_matrix_product() ? "gemm" : "gemv";
}

}  // namespace distal::core
