#pragma once

#include <string>

#include "plan/plan.h"

namespace distal::core {

// For each statement that is on several processors but distributes nothing: the command that would change it. For each
// with an index that has no values: that it has. Empty if there is none.
std::string undistributed_text(const Plan& plan);

}  // namespace distal::core
