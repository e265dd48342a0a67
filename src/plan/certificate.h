#pragma once

#include <vector>

#include "distal/certificate.h"
#include "plan/plan.h"

namespace distal::core {

using distal::Certificate;

// One for each stage.
std::vector<Certificate> certificates(const Plan& plan);

// The certificate that stands for a whole program: the one with the largest optimality, or the first if none has one.
const Certificate& worst(const std::vector<Certificate>& certificates);

}  // namespace distal::core
