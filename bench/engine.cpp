// Measures the overhead of the threads engine per task: the leaves do nothing, and the tensors are so small that copies
// are cheap. The engine replays plans of few tasks, and walks the others in each run. The result is the counter
// `us_per_task`.

#include <benchmark/benchmark.h>

#include <chrono>

#include "engine/runner.h"
#include "lang/parse.h"
#include "lower/compile.h"

namespace distal::core {
namespace {

class EmptyLeaf : public LeafKernel {
 public:
  void run(const LeafArguments&) const override {}
  std::string description() const override { return "empty"; }
};

Bindings settings(int64_t n, int64_t grid) { return {{"ni", n}, {"nj", n}, {"nk", n}, {"gx", grid}, {"gy", grid}}; }

void run_engine(benchmark::State& state, const std::string& algorithm, bool own_memory) {
  Module module = parse_file(std::string(DISTAL_SOURCE_DIR) + "/algorithms/" + algorithm + ".distal");
  int64_t grid = state.range(0);
  Plan plan = make_plan(compile(module), distal::core::bind(module, settings(4 * grid, grid)));
  RunnerOptions options{static_cast<int>(state.range(1)), own_memory};
  MemoryNeeds needs = memory_needs(plan, own_memory ? Reach::own() : Reach::all());
  Allocator allocator(plan.processors);
  TensorStore store(plan, allocator);
  Leaves leaves;
  for (size_t i = 0; i < plan.stages.size(); ++i) leaves.push_back(std::make_unique<EmptyLeaf>());
  Runner runner(plan, needs, std::move(leaves), allocator, store, options);
  double tasks = 0;
  auto start = std::chrono::steady_clock::now();
  for (auto _ : state) tasks += static_cast<double>(runner.run().tasks);
  std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
  state.counters["tasks"] = benchmark::Counter(tasks, benchmark::Counter::kAvgIterations);
  state.counters["us_per_task"] = taken.count() / tasks;
}

void grids_and_threads(benchmark::internal::Benchmark* b) {
  b->ArgNames({"grid", "threads"})->ArgsProduct({{4, 16, 32}, {1, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(run_engine, cannon_views, "cannon", false)->Apply(grids_and_threads);
BENCHMARK_CAPTURE(run_engine, cannon_copies, "cannon", true)->Apply(grids_and_threads);
BENCHMARK_CAPTURE(run_engine, pumma_copies, "pumma", true)->Apply(grids_and_threads);

}  // namespace
}  // namespace distal::core

BENCHMARK_MAIN();
