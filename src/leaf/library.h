#pragma once

#include <memory>
#include <string>

#include "leaf/leaf.h"

namespace distal::core {

// A leaf whose innermost loops are a kernel of a library, as substitute asks: BLAS where it knows the element type and
// the strides, plain loops elsewhere. Loops around the kernel are walked. A strict one is not shared among threads:
// where a kernel's work is cut, BLAS adds in another order.
std::unique_ptr<LeafKernel> make_library_leaf(const LeafTask& task, ElementType type, bool strict);

// In words, what runs in the place of the kernel's loops.
std::string explain_library_leaf(const LibraryLeaf& library);

}  // namespace distal::core
