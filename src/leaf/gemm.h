#pragma once

#include <memory>

#include "leaf/leaf.h"

namespace distal::core {

// A leaf whose innermost three loops are one matrix multiply: BLAS where it knows the element type and the strides,
// plain loops elsewhere. Loops around the multiply are walked.
std::unique_ptr<LeafKernel> make_gemm_leaf(const LeafTask& task, ElementType type);

}  // namespace distal::core
