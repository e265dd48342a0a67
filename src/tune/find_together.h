#pragma once

#include "support/process_group.h"
#include "tune/find.h"

namespace distal::core {

// find_what_is_left_out for several processes that have the same program: the first one searches, and sends the text of
// the found program to the others. Their result has the module alone, without costs and reasons. Collective.
FoundProgram find_together(const ProcessGroup& group, const Module& module, const Bindings& params,
                           const FindOptions& options);

}  // namespace distal::core
