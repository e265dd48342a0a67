#pragma once

#include <string>

#include "plan/plan.h"

namespace distal::core {

// Who sends how many bytes to whom at each step that moves any: a matrix of processors where they are few, else a line
// for each pair.
std::string messages_text(const Plan& plan);

}  // namespace distal::core
