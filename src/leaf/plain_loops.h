#pragma once

#include <memory>

#include "leaf/box_kernel.h"

namespace distal::core {

// A kernel that adds a product of two in plain loops, without generated code.
std::unique_ptr<BoxKernel> make_plain_loops(ElementType type);

}  // namespace distal::core
