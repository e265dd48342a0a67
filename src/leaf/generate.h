#pragma once

#include <memory>
#include <string>

#include "leaf/leaf.h"

namespace distal::core {

// The C++ of a leaf: sizes, strides and loop values are arguments, so new sizes need no new code.
std::string generate_source(const LeafTask& task, ElementType type);

// The same of every assignment of a stage's leaf, in the order in which they run.
std::string generate_sources(const StagePlan& stage, ElementType type);

// That source, compiled by the system's compiler (or found in the cache) and loaded.
std::unique_ptr<LeafKernel> make_generated_leaf(const LeafTask& task, ElementType type);

}  // namespace distal::core
