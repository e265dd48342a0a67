#pragma once

#include <string>

#include "plan/plan.h"

namespace distal::core {

// Every transfer and every leaf of every step, one line each. For small plans and for tests.
std::string to_string(const Plan& plan);

}  // namespace distal::core
