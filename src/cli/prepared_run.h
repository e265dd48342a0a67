#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/checker.h"
#include "cli/dataset.h"
#include "cli/options.h"
#include "cli/run_report.h"
#include "session/session.h"

namespace distal::core {

// Throws an Error if options conflict with each other, with the engine, or with the program's tensors.
void require_options(const CliOptions& options, const Module& module);

SessionOptions session_options(const CliOptions& options);

// The plan and the data of a run. Every process makes its own.
struct RunInputs {
  RunInputs(const CliOptions& options, const LoadedModule& loaded);

  std::shared_ptr<PreparedProgram> program;
  Dataset data;
};

// A program that is ready to run: planned, verified, with its data in place.
class PreparedRun {
 public:
  // Runs on the threads of this process.
  PreparedRun(const CliOptions& options, const LoadedModule& loaded);
  // Runs in one of several processes. `combine` merges the check results of all.
  using Combine = std::function<CheckResult(const CheckResult& mine)>;
  PreparedRun(const CliOptions& options, RunInputs inputs, std::unique_ptr<Session> session, Combine combine);

  // Runs all repetitions and checks the last one.
  void run_all();
  // Writes a tensor to a .npy file. All processes call it together.
  void save(const std::string& tensor, const std::string& file);

  const Plan& plan() const { return session_->plan(); }
  bool ok() const { return !check_ || check_->ok; }
  bool is_reporter() const { return session_->is_reporter(); }
  RunReport report() const;

 private:
  int64_t leaf_runs_here() const;
  void place_data();
  void restore_outputs();
  double run_checked();
  double timed(const std::function<void()>& run);  // in seconds, after a barrier

  const CliOptions& options_;
  RunInputs inputs_;
  std::unique_ptr<Session> session_;
  Combine combine_;
  std::unique_ptr<ResultChecker> checker_;  // null with --no-check
  std::optional<CheckResult> check_;
  std::vector<double> seconds_;
  RunCounts counts_;
};

}  // namespace distal::core
