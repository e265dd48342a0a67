#pragma once

#include <vector>

#include "plan/plan.h"

namespace distal::core {

// For each processor of a plan, the process that runs it. Each process gets consecutive processors, about equally many;
// if there are more processes than processors, the last are idle. Processors that share an upper-level acquire are in
// one process.
std::vector<int> processes_of_processors(const Plan& plan, int processes);

}  // namespace distal::core
