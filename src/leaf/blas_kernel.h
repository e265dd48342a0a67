#pragma once

#include <memory>
#include <string>
#include <vector>

#include "leaf/box_kernel.h"

namespace distal::core {

// A product of two accesses in which each index stands in at least two of the three tensors: in the output and the left
// one (a row), in the output and the right one (a column), in both operands (a sum), or in all three (a batch).
// Whatever the loops, it is then a matrix multiply, a matrix times a vector, an outer product or an inner product, or
// a loop of them. Gives the name of that form, or says why there is none.
struct BlasForm {
  std::string name;
  std::string why_not;
};
BlasForm blas_form(const Compute& compute, const LeafTerm& term, const std::vector<std::string>& names,
                   ElementType type);

enum class BlasUse {
  WherePossible,
  UnlessThin,  // not for thin matrices, where code of our own is much faster
  ForLarge,    // nor for small ones, where that is faster by some percent
};

// The product by BLAS; null where there is none for the term or the type. It takes a box if BLAS takes its strides.
std::unique_ptr<BoxKernel> make_blas_kernel(const LeafTerm& term, ElementType type, BlasUse use);

}  // namespace distal::core
