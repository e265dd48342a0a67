#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "check/reference.h"
#include "cli/options.h"
#include "plan/plan.h"

namespace distal::core {

// What was found for a program that leaves something out: lines of the summary, and fields of the JSON object.
struct FoundNotes {
  std::string text;
  nlohmann::ordered_json json{};
};

// The results of a run, on any engine.
struct RunReport {
  std::string engine;   // the name on the command line
  std::string backend;  // its description, such as "threads"
  const Plan* plan = nullptr;
  std::vector<double> seconds;       // sorted
  std::optional<CheckResult> check;  // none with --no-check
  int64_t bytes_moved = 0;
  std::optional<int64_t> bytes_copied;  // none: unknown, as with Legion
  int64_t messages = 0;
  int64_t peak_bytes_per_processor = 0;
  int64_t tasks = 0;
  std::vector<std::string> leaves;        // one description per statement
  std::optional<int64_t> resident_bytes;  // the maximum over the processes
  FoundNotes found{};

  bool ok() const { return !check || check->ok; }
  nlohmann::ordered_json json() const;
  // The lines of the summary.
  std::string ran_text() const;
  std::string moved_text() const;
  std::string memory_text() const;
  std::string time_text() const;
  std::string speed_text() const;
  std::string check_text() const;
  // The statements and all lines.
  std::string summary() const;

 private:
  double median() const;
  double flops() const;
  double tensor_bytes() const;
};

// One JSON object on a line of its own, or the summary, on a terminal with what to look at first.
std::string report_text(const RunReport& report, const CliOptions& options);

}  // namespace distal::core
