#pragma once

#include <memory>
#include <string>
#include <vector>

#include "leaf/box_kernel.h"

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

// A kernel that calls BLAS for a product of two; null if BLAS has nothing for the term or the type. It takes a box if
// BLAS can take its strides, and `kind` does not leave the box to register blocks.
std::unique_ptr<BoxKernel> make_blas_kernel(const LeafTerm& term, ElementType type, BoxKernelKind kind);

}  // namespace distal::core
