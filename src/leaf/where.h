#pragma once

#include <memory>
#include <vector>

#include "leaf/leaf.h"

namespace distal::core {

// A leaf whose loops enclose the producers of workspaces and their consumer. At each iteration it runs the kernels of
// its parts one after the other. It sets a workspace to zero before its producer runs.
std::unique_ptr<LeafKernel> make_where_leaf(const LeafTask& task, ElementType type,
                                            std::vector<std::unique_ptr<LeafKernel>> parts);

}  // namespace distal::core
