#pragma once

#include <string>

#include "plan/plan.h"

namespace distal::core {

// Notes about statements. If a statement on several processors distributes nothing, the note has a command that would.
// If an index of a statement has no values, the note says so. Empty if there are no notes.
std::string undistributed_text(const Plan& plan);

}  // namespace distal::core
