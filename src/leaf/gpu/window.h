#pragma once

#include <string>
#include <vector>

#include "ir/iteration_space.h"
#include "program/program.h"

namespace distal::core {

// The values of an index that the producer of a workspace touches while the loops around it are fixed, as C++.
struct Window {
  std::string lowest;  // a factor, which depends on the loops around
  std::string extent;  // of the largest window
};

// By dimension of the workspace. `name` and `extent` give the text for a variable. The space has no extents, and no
// variables of the workspace's consumer.
std::vector<Window> windows_of(const Workspace& workspace, const IterationSpace<int64_t>& space,
                               const VariableText& name, const VariableText& extent);

}  // namespace distal::core
