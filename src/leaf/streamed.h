#pragma once

#include <memory>

#include "leaf/box_kernel.h"

namespace distal::core {

// A kernel for any terms and any box. It compiles code for a plane of two axes, and runs it in loops over the other
// axes. It chooses the plane so that most accesses are contiguous. Each PlaneShape has code of its own.
std::unique_ptr<BoxKernel> make_streamed_kernel(const std::vector<LeafTerm>& terms, ElementType type, bool accumulate);

}  // namespace distal::core
