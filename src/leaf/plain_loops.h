#pragma once

#include <memory>

#include "leaf/box_kernel.h"

namespace distal::core {

// A kernel that adds a product of two, or subtracts it, in plain loops, without generated code.
std::unique_ptr<BoxKernel> make_plain_loops(const LeafTerm& term, ElementType type);

}  // namespace distal::core
