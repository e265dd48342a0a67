#pragma once

#include <functional>
#include <memory>
#include <string>

#include "leaf/leaf.h"

namespace distal::core {

// Which kernels a leaf over a box may use.
struct BoxChoice {
  bool library = true;
  bool compile = true;  // generated code; without it the library is used wherever possible
  bool small = false;   // generated code also for small matrices, where the library is only a little slower
};

// A leaf whose loops run over a box. It computes each term with the best kernel, on all threads of the processor. Null
// if the choice forbids compiling and no other kernel fits. `make_fallback` makes the leaf for runs whose strides no
// kernel takes.
std::unique_ptr<LeafKernel> make_box_leaf(const LeafTask& task, ElementType type, BoxChoice choice,
                                          std::function<std::unique_ptr<LeafKernel>()> make_fallback);

// Says in words which kernels the terms of the part use, assuming their likely strides; `otherwise` says what runs
// where there is none.
std::string explain_box_leaf(const LeafTask& task, ElementType type, BoxChoice choice, const std::string& otherwise);

// The C++ of these kernels, one after the other.
std::string box_leaf_sources(const LeafTask& task, ElementType type);

}  // namespace distal::core
