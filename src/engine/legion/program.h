#pragma once

#include "lower/compile.h"
#include "plan/plan.h"

namespace distal::core {

// The Program that is emitted for Legion; DISTAL's library makes the emitted program's leaves from the same one.
// Tensors without a communicate are acquired as far out as possible, as each step costs a launch.
std::shared_ptr<const Program> legion_program(const Module& module);

// Of the plan of that Program. Loops are not folded into leaves: a leaf is what one launch runs.
inline constexpr PlanOptions kLegionPlan{.fold = false};

}  // namespace distal::core
