#pragma once

#include <string>

#include "check/reference.h"
#include "cli/dataset.h"

namespace distal::core {

// Checks the results of another program. The file n.npy in `folder` has the output of statement n, as it was directly
// after that statement.
CheckResult check_saved(const Plan& plan, const Dataset& data, const std::string& folder, int64_t max_samples,
                        uint64_t seed);

}  // namespace distal::core
