#pragma once

#include <memory>

#include "leaf/box_kernel.h"

namespace distal::core {

// The product of a matrix with its own transpose: the two operands are the same elements, so the output gets a
// symmetric matrix, of which half is multiplied and the other half mirrored. BLAS's own syrk makes one triangle only,
// and of an output that held something before there is no telling what the other held. Null where there is no BLAS for
// the term.
std::unique_ptr<BoxKernel> make_symmetric_kernel(const LeafTerm& term, ElementType type);

}  // namespace distal::core
