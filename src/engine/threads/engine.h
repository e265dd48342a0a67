#pragma once

#include <memory>
#include <vector>

#include "engine/runner.h"

namespace distal::core {

struct ThreadsOptions {
  // The number of threads in total; 0: one per core. If there are more threads than processors, they are divided among
  // the processors, whose leaves use them in parallel.
  int threads = 0;
  // Each processor touches only its own memory, and every acquired rectangle is a copy that is checked to be complete.
  // Off: a rectangle that lies within one piece of any processor is used in place.
  bool own_memory = false;
};

// Runs a plan on the threads of this process, as often as wanted, one run at a time. The first run records the tasks of
// each stage that is not too long; later runs replay them. The store's pieces may change between runs.
class ThreadsEngine {
 public:
  ThreadsEngine(const Plan& plan, const MemoryNeeds& needs, std::vector<std::unique_ptr<LeafKernel>> leaves,
                Allocator& allocator, TensorStore& store, ThreadsOptions options);

  RunCounts run() { return runner_->run(); }
  RunCounts run_stage(size_t stage) { return runner_->run_stage(stage); }  // one statement alone

 private:
  std::unique_ptr<Runner> runner_;
};

Reach reach_of(const ThreadsOptions& options);

}  // namespace distal::core
