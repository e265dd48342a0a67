#pragma once

#include "plan/plan.h"

namespace distal::core {

// The options of the plan of an emitted Program. Loops are not folded into leaves: a leaf is what one launch runs.
inline constexpr PlanOptions kLegionPlan{.fold = false};

}  // namespace distal::core
