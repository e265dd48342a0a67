#pragma once

#include "plan/plan.h"

namespace distal::core {

// How many processors have iterations in some statement. Nothing distributes work by itself: without a `distribute`
// it is one, however large the machine is.
int64_t processors_with_work(const Plan& plan);

}  // namespace distal::core
