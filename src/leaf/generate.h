#pragma once

#include <memory>
#include <string>

#include "leaf/leaf.h"

namespace distal::core {

// A nest as a function: extents and values by variable, and address, offset and strides by operand. Of a loop that
// threads may share, by variable too, it runs the iterations from `first` to before `last`.
using NestFunction = void(const int64_t* extent, const int64_t* value, void* const* data, const int64_t* offset,
                          const int64_t* const* stride, const int64_t* first, const int64_t* last);

// The C++ of a nest, loop by loop as the schedule orders them: sizes, strides and loop values are arguments, so new
// sizes need no new code, and threads that share a loop run the same.
std::string generate_source(const LeafTask& task, ElementType type, const std::string& function = "leaf");

// The same of every assignment of a stage's leaf, in the order in which they run.
std::string generate_sources(const StagePlan& stage, ElementType type);

// That source, compiled by the system's compiler (or found in the cache) and loaded. Strict: every sum in its order.
std::unique_ptr<LeafKernel> make_generated_leaf(const LeafTask& task, ElementType type, bool strict);

}  // namespace distal::core
