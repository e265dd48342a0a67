#pragma once

#include <vector>

#include "plan/plan.h"

namespace distal::core {

// By processor of a plan, the process it is in. Processes take consecutive processors, as even in number as can be;
// where there are more processes than processors, the last are idle. Processors that share what an upper-level one
// acquired stay together.
std::vector<int> processes_of_processors(const Plan& plan, int processes);

}  // namespace distal::core
