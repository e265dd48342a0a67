#pragma once

#include <memory>
#include <string>

#include "leaf/leaf.h"

namespace distal::core {

struct LibraryChoice {
  bool strict = false;   // not shared among threads: where a kernel's work is cut, BLAS adds in another order
  bool compile = false;  // code of its own where that is faster than BLAS
};

// A leaf whose innermost loops are a kernel of a library, as substitute asks: BLAS where it knows the element type and
// the strides, register blocks for thin and small matrices, plain loops elsewhere. Loops around the kernel are walked.
std::unique_ptr<LeafKernel> make_library_leaf(const LeafTask& task, ElementType type, LibraryChoice choice);

// In words, what runs in the place of the kernel's loops.
std::string explain_library_leaf(const LeafTask& task, ElementType type, LibraryChoice choice);

// Its C++; none where BLAS or plain loops run.
std::string library_leaf_source(const LeafTask& task, ElementType type, LibraryChoice choice);

}  // namespace distal::core
