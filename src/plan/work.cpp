#include "plan/work.h"

#include <algorithm>

namespace distal::core {

int64_t processors_with_work(const Plan& plan) {
  std::vector<bool> works(static_cast<size_t>(plan.processors), false);
  std::vector<Interval<int64_t>> intervals;
  for (const StagePlan& stage : plan.stages) {
    std::vector<bool> is_launched;
    for (int dimension : stage.machine_dimension) is_launched.push_back(dimension >= 0);
    std::vector<int64_t> values(is_launched.size(), 0);
    for (int64_t p : stage.places(stage.machine.levels())) {
      if (stage.bounds_at(p, is_launched, values, intervals)) works[static_cast<size_t>(p)] = true;
    }
  }
  return std::count(works.begin(), works.end(), true);
}

}  // namespace distal::core
