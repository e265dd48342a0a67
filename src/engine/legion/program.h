#pragma once

#include "lower/compile.h"
#include "plan/plan.h"

namespace distal::core {

// The Program that is emitted for Legion, and, in the emitted program, the one whose leaves run: tensors without a
// communicate are acquired as far out as may be, since a step costs a launch.
std::shared_ptr<const Program> legion_program(const Module& module);

// That Program at given params, its leaves as the Program has them.
Plan legion_plan(std::shared_ptr<const Program> program, const Bindings& params);

}  // namespace distal::core
