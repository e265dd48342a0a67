#pragma once

#include <string>

#include "plan/plan.h"

namespace distal::core {

// For each step that moves bytes: how many bytes each processor sends to which. A matrix if there are few processors,
// otherwise one line per pair.
std::string messages_text(const Plan& plan);

}  // namespace distal::core
