#pragma once

#include <memory>
#include <string>

#include "leaf/leaf.h"

namespace distal::core {

struct LibraryChoice {
  bool strict = false;   // one thread for each kernel call: BLAS adds in another order if a call is divided
  bool compile = false;  // generated code where it is faster than BLAS
};

// A leaf whose innermost loops are replaced by a library kernel, as substitute asks: BLAS if it takes the element type
// and the strides, register blocks for thin and small matrices, plain loops otherwise. The leaf runs the loops around
// the kernel.
std::unique_ptr<LeafKernel> make_library_leaf(const LeafTask& task, ElementType type, LibraryChoice choice);

// Says in words what runs in place of the kernel's loops.
std::string explain_library_leaf(const LeafTask& task, ElementType type, LibraryChoice choice);

// The generated C++; empty if BLAS or plain loops run.
std::string library_leaf_source(const LeafTask& task, ElementType type, LibraryChoice choice);

}  // namespace distal::core
