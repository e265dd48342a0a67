#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace distal::core {

// How far a statement is from the least communication (docs/certificate.md).
struct Certificate {
  std::string statement;
  int64_t processors = 1;            // that may share the work
  int64_t exchanged_bytes = 0;       // by the processor that exchanges most
  std::string busiest;               // the name of that processor
  int64_t lower_bound_bytes = 0;     // what some processor exchanges under every schedule
  std::optional<double> optimality;  // exchanged / lower bound; none if the bound is 0
  std::string bound;                 // the proof of the bound, in lines
};

// One for each stage.
std::vector<Certificate> certificates(const Plan& plan);

// The certificate that stands for a whole program: the one with the largest optimality, or the first if none has one.
const Certificate& worst(const std::vector<Certificate>& certificates);

}  // namespace distal::core
