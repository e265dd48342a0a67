#pragma once

#include <memory>

#include "leaf/box_kernel.h"

namespace distal::core {

// A kernel for a matrix times its own transpose. The product is symmetric, so BLAS gemm computes one half and the
// kernel mirrors the other. BLAS's syrk does not serve: it computes one triangle only, and an output that is added to
// need not be symmetric. Null if BLAS has nothing for the term.
std::unique_ptr<BoxKernel> make_symmetric_kernel(const LeafTerm& term, ElementType type);

}  // namespace distal::core
