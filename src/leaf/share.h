#pragma once

#include "leaf/box_kernel.h"
#include "support/team.h"

namespace distal::core {

// Runs a kernel over a box, cut into a part for each thread of the team: along an index of the output, or, where that
// has none that is long enough, along a sum, with an output of each thread's own that is added in the end.
void share(const BoxKernel& kernel, const Box& box, ElementType type, bool begin, Team* team);

}  // namespace distal::core
