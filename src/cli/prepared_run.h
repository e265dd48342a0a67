#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/backend.h"
#include "cli/checker.h"
#include "cli/dataset.h"
#include "cli/options.h"
#include "cli/run_report.h"
#include "leaf/leaf.h"

namespace distal::core {

// Throws an Error if the program uses GPU processors or GPU memory, for an engine that runs on the host only.
void require_host(const Module& module, const std::string& engine);

// Throws an Error if options conflict with each other, with the engine, or with the program's tensors.
void require_options(const CliOptions& options, const Module& module);

// The plan and the data of a run. Every process makes its own.
struct RunInputs {
  RunInputs(const CliOptions& options, const LoadedModule& loaded);
  RunInputs(const RunInputs&) = delete;
  RunInputs& operator=(const RunInputs&) = delete;

  Plan plan;
  Dataset data;
};

// The most memory that a process needs besides the plan's, to check results and to load files. `has_all_pieces`: this
// is the only process.
int64_t extra_bytes(const Plan& plan, const CliOptions& options, bool has_all_pieces);

// A program that is ready to run: planned, verified, with its data in place.
class PreparedRun {
 public:
  using MakeBackend = std::function<std::unique_ptr<Backend>(const Plan& plan, const MakeLeaves& make_leaves)>;
  // Runs on the threads of this process.
  PreparedRun(const CliOptions& options, const LoadedModule& loaded);
  // Runs on the given backend.
  PreparedRun(const CliOptions& options, std::unique_ptr<RunInputs> inputs, const MakeBackend& make_backend);

  // Runs all repetitions and checks the last one.
  void run_all();
  // Writes a tensor to a .npy file. All processes call it together.
  void save(const std::string& tensor, const std::string& file);

  const Plan& plan() const { return plan_; }
  bool ok() const { return check_.ok; }
  bool is_reporter() const { return backend_->is_reporter(); }
  RunReport report() const;

 private:
  void restore_outputs();
  double run_checked();
  double timed(const std::function<void()>& run);  // in seconds, after a barrier

  const CliOptions& options_;
  std::unique_ptr<RunInputs> inputs_;
  const Plan& plan_;
  const Dataset& data_;
  std::unique_ptr<Backend> backend_;
  std::vector<const LeafKernel*> leaves_;  // owned by the backend; their descriptions may change during the runs
  std::unique_ptr<ResultChecker> checker_;
  CheckResult check_;
  std::vector<double> seconds_;
  RunCounts counts_;
};

}  // namespace distal::core
