#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace distal {

// How far a statement is from the least communication. docs/certificate.md defines each number.
struct Certificate {
  std::string statement;             // the statement, as in Kernel::text()
  int64_t processors = 1;            // that may share the work
  int64_t exchanged_bytes = 0;       // by the processor that exchanges most
  std::string busiest;               // the name of that processor
  int64_t lower_bound_bytes = 0;     // what some processor exchanges under every schedule
  std::optional<double> optimality;  // exchanged_bytes / lower_bound_bytes; none if the bound is 0
  std::string bound;                 // the proof of the bound, in lines
};

}  // namespace distal
