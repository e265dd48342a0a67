#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "check/reference.h"
#include "plan/plan.h"

namespace distal::core {

// What there is to say of a run, whatever engine it ran on.
struct RunReport {
  std::string engine;  // as the command line calls it
  std::string on;      // what its processors are, in words
  const Plan* plan = nullptr;
  std::vector<double> seconds;  // sorted
  CheckResult check;
  int64_t bytes_moved = 0;
  std::optional<int64_t> bytes_copied;  // none: only the engine's own runtime knows
  int64_t messages = 0;
  int64_t peak_bytes_per_processor = 0;
  int64_t tasks = 0;
  std::vector<std::string> leaves;        // by statement
  std::optional<int64_t> resident_bytes;  // of the process that has most

  nlohmann::ordered_json json() const;
  // The lines of a summary, each of one subject.
  std::string ran_text() const;
  std::string moved_text() const;
  std::string memory_text() const;
  std::string time_text() const;
  std::string speed_text() const;
  std::string check_text() const;
  // All of them, behind the statements.
  std::string summary() const;

 private:
  double median() const;
  double flops() const;
  double tensor_bytes() const;
};

// As one JSON object, or as lines for a person.
void print_report(const RunReport& report, bool json);

// Refuses a run that needs more than there is.
void require_memory(int64_t need, int64_t have);

// One line on a terminal that says what is going on; it is overwritten by the next, and by nothing at the end.
void show_progress(const std::string& what);

}  // namespace distal::core
