#pragma once

#include "plan/plan.h"

namespace distal::core {

// Throws an Error if the processors carry out more than kMaxSteps steps. It says which tensors are communicated too
// far in, and at which loop further out there would be few enough.
void require_few_steps(const StagePlan& stage);

}  // namespace distal::core
