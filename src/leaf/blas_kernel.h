#pragma once

#include <memory>
#include <string>
#include <vector>

#include "leaf/box_kernel.h"

namespace distal::core {

// A kernel that calls BLAS for a product of two; null if BLAS has nothing for the term or the type. It takes a box if
// BLAS can take its strides, and `kind` does not leave the box to register blocks.
std::unique_ptr<BoxKernel> make_blas_kernel(const LeafTerm& term, ElementType type, BoxKernelKind kind);

}  // namespace distal::core
