#pragma once

#include "lang/module.h"

namespace distal::core {

// Whether a statement has a schedule, and a tensor whose format is left out.
bool leaves_formats_out(const Module& module, const ScheduledStatement& scheduled);

// Gives formats to the tensors of a scheduled statement that have none: of each tensor the blocks over its machine, in
// one copy, that move the fewest bytes of it under this schedule; of those the one with the smallest pieces. What a
// format moves of its tensor does not depend on the other formats, so together they move the least. Returns why nothing
// was found: a plan is made for each format, so the machine must not be too large.
std::string find_formats(Module& module, const ScheduledStatement& scheduled, const Bindings& params);

}  // namespace distal::core
