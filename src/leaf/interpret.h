#pragma once

#include <memory>
#include <string>

#include "leaf/leaf.h"

namespace distal::core {

// A leaf that interprets its nest point by point: for tiny leaves, machines without a compiler, sanitizer runs and
// differential tests.
std::unique_ptr<LeafKernel> make_interpreted_leaf(const LeafTask& task, ElementType type,
                                                  std::string description = "interpreted");

}  // namespace distal::core
