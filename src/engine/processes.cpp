#include "engine/processes.h"

#include <algorithm>
#include <numeric>

#include "support/checked.h"

namespace distal::core {

namespace {

// The number of consecutive processors that must be in one process because they share an acquire.
int64_t smallest_group(const Plan& plan) {
  int64_t group = 1;
  for (const StagePlan& s : plan.stages) {
    for (const AcquirePlan& a : s.acquires) {
      if (a.acquire->place_levels >= s.machine.levels()) continue;
      group = std::lcm(group, s.machine.group_size[static_cast<size_t>(a.acquire->place_levels)]);
    }
  }
  return std::min(group, plan.processors);
}

}  // namespace

std::vector<int> processes_of_processors(const Plan& plan, int processes) {
  int64_t group = smallest_group(plan);
  int64_t groups = ceil_div(plan.processors, group);
  int64_t used = std::min<int64_t>(groups, processes);
  std::vector<int> out;
  for (int64_t p = 0; p < plan.processors; ++p) out.push_back(static_cast<int>(p / group * used / groups));
  return out;
}

}  // namespace distal::core
