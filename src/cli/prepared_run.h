#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/checker.h"
#include "cli/dataset.h"
#include "cli/options.h"
#include "cli/run_report.h"
#include "cli/site.h"
#include "leaf/leaf.h"

namespace distal::core {

// Refuses machines and memories that an engine does not have which has processors and memory of the host only.
void require_host(const Module& module, const std::string& engine);

// Refuses options that do not go with each other, with the engine, or with the program's tensors.
void require_options(const CliOptions& options, const Module& module);

// What a run starts from: everything that every process finds out by itself, `processes` of them on a machine.
struct RunInputs {
  RunInputs(const CliOptions& options, const LoadedModule& loaded, int processes = 1);
  RunInputs(const RunInputs&) = delete;
  RunInputs& operator=(const RunInputs&) = delete;

  Plan plan;
  Dataset data;  // of the plan
};

// What a process holds at most beside the plan's memory, to check results and to save them. One that is alone has all
// pieces.
int64_t bytes_beside(const Plan& plan, const CliOptions& options, bool alone);

// A program ready to run: planned, verified, with its data in place.
class PreparedRun {
 public:
  // Makes what it runs on, given what makes the leaves.
  using MakeSite = std::function<std::unique_ptr<Site>(const Plan& plan, const MakeLeaves& make_leaves)>;
  // On the threads of this process.
  PreparedRun(const CliOptions& options, const LoadedModule& loaded);
  PreparedRun(const CliOptions& options, std::unique_ptr<RunInputs> inputs, const MakeSite& make_site);

  void run_all();
  // Writes a tensor to a .npy file.
  void save(const std::string& tensor, const std::string& file);

  const Plan& plan() const { return plan_; }
  bool ok() const { return check_.ok; }
  bool speaks() const { return site_->speaks(); }
  RunReport report() const;

 private:
  void restore_outputs();
  double run_checked();
  double timed(const std::function<void()>& run);  // seconds, from when all processes are there

  const CliOptions& options_;
  std::unique_ptr<RunInputs> inputs_;
  const Plan& plan_;
  const Dataset& data_;
  std::unique_ptr<Site> site_;
  std::vector<const LeafKernel*> leaves_;  // the site's, for what they call themselves after the runs
  std::unique_ptr<ResultChecker> checker_;
  CheckResult check_;
  std::vector<double> seconds_;
  RunCounts counts_;
};

}  // namespace distal::core
