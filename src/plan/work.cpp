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

// A processor runs the leaf once for each combination of the values of the sequential loops.
int64_t most_leaf_runs(const Plan& plan) {
  double out = 0;
  for (const StagePlan& stage : plan.stages) {
    double runs = static_cast<double>(stage.places(stage.machine.levels()).size());
    std::vector<bool> is_recovered = recovered_variables(stage.space.derivations, stage.space.size());
    for (int v = 0; v < stage.space.size(); ++v) {
      bool in_leaf = std::find(stage.leaf_loops.begin(), stage.leaf_loops.end(), v) != stage.leaf_loops.end();
      if (!is_recovered[v] && !in_leaf && stage.machine_dimension[v] < 0) {
        runs *= static_cast<double>(stage.space.extents[v]);
      }
    }
    out += runs;
  }
  return static_cast<int64_t>(std::min(out, 9e18));
}

}  // namespace distal::core
