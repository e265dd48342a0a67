#include "engine/threads/engine.h"

#include "support/cores.h"

namespace distal::core {

namespace {

RunnerOptions runner_options(const Plan& plan, const ThreadsOptions& options) {
  RunnerOptions out;
  out.threads = options.threads > 0 ? options.threads : usable_cores();
  out.processors_here = plan.processors;
  out.checked = options.own_memory;
  return out;
}

}  // namespace

ThreadsEngine::ThreadsEngine(const Plan& plan, const MemoryNeeds& needs,
                             std::vector<std::unique_ptr<LeafKernel>> leaves, Allocator& allocator, TensorStore& store,
                             ThreadsOptions options)
    : runner_(
          std::make_unique<Runner>(plan, needs, std::move(leaves), allocator, store, runner_options(plan, options))) {}

Reach reach_of(const ThreadsOptions& options) { return options.own_memory ? Reach::own() : Reach::all(); }

}  // namespace distal::core
