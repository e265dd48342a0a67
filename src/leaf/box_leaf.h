#pragma once

#include <functional>
#include <memory>
#include <string>

#include "leaf/leaf.h"

namespace distal::core {

// Which kernels a leaf over a box may use.
struct BoxChoice {
  bool library = true;
  bool compile = true;  // code of its own; else the library is used wherever it can be
  bool small = false;   // code of its own also for small matrices, where the library is not much slower
};

// A leaf whose loops run over a box: its terms each by the kernel that suits them, and shared among the processor's
// threads. Null if without compiling there is no kernel for it. `otherwise` makes what runs where no kernel takes the
// strides that come.
std::unique_ptr<LeafKernel> make_box_leaf(const LeafTask& task, ElementType type, BoxChoice choice,
                                          std::function<std::unique_ptr<LeafKernel>()> otherwise);

// How the terms of the part would run, as far as their likely strides tell.
std::string explain_box_leaf(const LeafTask& task, ElementType type, BoxChoice choice);

// The C++ of the kernels that would run, one after the other.
std::string box_leaf_sources(const LeafTask& task, ElementType type);

}  // namespace distal::core
