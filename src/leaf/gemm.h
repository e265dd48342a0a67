#pragma once

#include <memory>

#include "leaf/leaf.h"

namespace distal::core {

// A leaf whose innermost three loops are one matrix multiply: BLAS where it knows the element type and the strides,
// plain loops elsewhere. Loops around the multiply are walked. A strict one is not shared among threads: where a
// multiply is cut, BLAS adds in another order.
std::unique_ptr<LeafKernel> make_gemm_leaf(const LeafTask& task, ElementType type, bool strict);

}  // namespace distal::core
