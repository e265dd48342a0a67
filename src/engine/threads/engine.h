#pragma once

#include <memory>
#include <vector>

#include "engine/runner.h"

namespace distal::core {

struct ThreadsOptions {
  // In all, 0: as many as the machine has cores. Where they are more than the processors, each processor gets a team of
  // its share of them, for its leaves to use.
  int threads = 0;
  // Each processor touches only memory of its own, and every acquired rectangle is a copy that is checked to be
  // complete. Off: what lies in anybody's piece in one part is used where it lies.
  bool own_memory = false;
};

// Runs a plan on the threads of this process, again and again: what the first run made of a stage that is not too long
// is kept and replayed. One run at a time; the pieces of the store may be others at the next.
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
