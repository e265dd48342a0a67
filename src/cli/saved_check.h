#pragma once

#include <string>

#include "check/reference.h"
#include "cli/dataset.h"

namespace distal::core {

// Compares what the statements of a program made elsewhere with the reference: `folder` has the output of statement n,
// as it was right after it, in n.npy.
CheckResult check_saved(const Plan& plan, const Dataset& data, const std::string& folder, int64_t max_samples,
                        uint64_t seed);

}  // namespace distal::core
