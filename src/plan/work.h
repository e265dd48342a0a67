#pragma once

#include "plan/plan.h"

namespace distal::core {

// How many processors have iterations in some statement. Nothing distributes work by itself: without a `distribute`
// it is one, however large the machine is.
int64_t processors_with_work(const Plan& plan);

// How often the leaves run, if all processors have work at every step.
int64_t most_leaf_runs(const Plan& plan);

}  // namespace distal::core
