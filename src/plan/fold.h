#pragma once

#include "plan/plan.h"

namespace distal::core {

// Gives to the leaf the innermost loops that step through nothing but data that every processor has at home: such
// steps bring nothing and end nothing, so enumerating them would only cost time.
void fold_local_loops(const Plan& plan, StagePlan& stage);

// The processor within the place's own reach whose piece holds the whole rectangle, or -1. Partials are combined at
// the first replica only, so a reduction may use no other in place.
int64_t own_view(const TensorPlan& tensor, const StagePlan& stage, const Acquire& acquire, int64_t place,
                 const Rect& rect);

}  // namespace distal::core
