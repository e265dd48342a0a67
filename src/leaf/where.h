#pragma once

#include <memory>
#include <vector>

#include "leaf/leaf.h"

namespace distal::core {

// A leaf whose loops stand around the producers of workspaces and their consumer: at each iteration its parts run one
// after the other, each by a kernel of its own, and a producer's workspace is zero when it begins.
std::unique_ptr<LeafKernel> make_where_leaf(const LeafTask& task, ElementType type,
                                            std::vector<std::unique_ptr<LeafKernel>> parts);

}  // namespace distal::core
