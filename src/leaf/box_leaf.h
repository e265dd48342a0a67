#pragma once

#include <functional>
#include <memory>
#include <string>

#include "leaf/choose_box.h"
#include "leaf/leaf.h"

namespace distal::core {

// A leaf over a box, on all threads of the processor. `make_other` makes the leaf for runs whose strides no kernel
// takes.
std::unique_ptr<LeafKernel> make_box_leaf(const LeafTask& task, ElementType type, const BoxPlan& plan,
                                          std::function<std::unique_ptr<LeafKernel>()> make_other);

// The C++ of the expected kernels, one after the other.
std::string box_sources(const LeafTask& task, ElementType type, const BoxPlan& plan);

}  // namespace distal::core
