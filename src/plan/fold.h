#pragma once

#include "plan/plan.h"

namespace distal::core {

// Moves innermost loops into the leaf if they touch only data that every processor has at home. Their steps fetch and
// release nothing, so walking them would only cost time.
void fold_local_loops(const Plan& plan, StagePlan& stage);

// The processor of this place whose piece holds the whole rectangle, so that it is used in place; -1 if there is none.
// Partials are combined at the first replica, so a reduction uses no other replica in place.
int64_t own_view(const TensorPlan& tensor, const StagePlan& stage, const Acquire& acquire, int64_t place,
                 const Rect& rect);

}  // namespace distal::core
