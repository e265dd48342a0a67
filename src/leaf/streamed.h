#pragma once

#include <memory>

#include "leaf/box_kernel.h"

namespace distal::core {

// Any terms, over any box: code for a plane of two axes, chosen so that as much as possible is read and written from
// one element to the next, and loops of it. One code for each way in which the operands go through a plane.
std::unique_ptr<BoxKernel> make_streamed_kernel(const std::vector<LeafTerm>& terms, ElementType type, bool accumulate);

}  // namespace distal::core
