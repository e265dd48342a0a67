#pragma once

#include "distal/progress.h"
#include "lang/module.h"

namespace distal::core {

// Whether a statement has a schedule, and a tensor whose format is left out.
bool leaves_formats_out(const Module& module, const ScheduledStatement& scheduled);

// Gives formats to the tensors of a scheduled statement that have none: each gets the blocks over its machine, in one
// copy, that move its fewest bytes under this schedule, and of several such formats the one with the smallest pieces.
// The bytes of a tensor do not depend on the formats of others, so together they are the least. Returns why nothing was
// found; empty if something was. A plan is made for each format; for a large machine, it is made for the same machine
// with shorter dimensions. Throws Interrupted if the progress was cancelled.
std::string find_formats(Module& module, const ScheduledStatement& scheduled, const Bindings& params,
                         Progress* progress);

}  // namespace distal::core
