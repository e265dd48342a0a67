#pragma once

#include <memory>
#include <string>

#include "leaf/leaf.h"

namespace distal::core {

// A compiled nest. `extent` and `value` are by variable; `data`, `offset` and `stride` are by operand. `first` and
// `last` are by variable: the range of iterations, without `last`, of a loop that threads may share.
using NestFunction = void(const int64_t* extent, const int64_t* value, void* const* data, const int64_t* offset,
                          const int64_t* const* stride, const int64_t* first, const int64_t* last);

// The C++ of a nest, with the loops in the order of the schedule. Sizes, strides and loop values are arguments, so new
// sizes need no new code, and all threads that share a loop run the same code.
std::string generate_source(const LeafTask& task, ElementType type, const std::string& function = "leaf");

// Compiles that source, or loads it from the cache. `strict`: sums are added in the order of the loops.
std::unique_ptr<LeafKernel> make_generated_leaf(const LeafTask& task, ElementType type, bool strict);

}  // namespace distal::core
