#pragma once

#include "support/process_group.h"
#include "tune/find.h"

namespace distal::core {

// find_what_is_left_out for several processes that have the same program: the first one finds, and sends the others the
// text. Only the first one knows why: the others have the module alone. Collective.
FoundProgram find_together(const ProcessGroup& group, const Module& module, const Bindings& params,
                           const FindOptions& options);

}  // namespace distal::core
