#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/checker.h"
#include "cli/dataset.h"
#include "cli/options.h"
#include "cli/run_report.h"
#include "engine/threads/engine.h"

namespace distal::core {

// Refuses machines and memories that the threads engine does not have.
void require_host(const Module& module);

// A program ready to run: planned, verified, with its data in place.
class PreparedRun {
 public:
  PreparedRun(const CliOptions& options, const LoadedModule& loaded);

  void run_all();
  // Writes a tensor to a .npy file.
  void save(const std::string& tensor, const std::string& file) const;

  const Plan& plan() const { return plan_; }
  bool ok() const { return checker_->result().ok; }
  RunReport report() const;

 private:
  int64_t memory_at_hand() const;  // what the plan may hold
  void restore_outputs();
  double run_checked();

  const CliOptions& options_;
  Plan plan_;
  ThreadsOptions threads_;
  MemoryNeeds needs_;
  Dataset data_;
  Allocator allocator_;
  std::unique_ptr<TensorStore> store_;
  std::unique_ptr<ThreadsEngine> engine_;
  std::vector<std::string> leaf_names_;
  std::unique_ptr<ResultChecker> checker_;
  std::vector<double> seconds_;
  RunCounts counts_;
};

}  // namespace distal::core
