// Measures the time to plan an algorithm for 1,024 processors and to count its cost, as `distal explain` does.

#include <benchmark/benchmark.h>

#include "lang/parse.h"
#include "lower/compile.h"
#include "plan/cost.h"

namespace distal::core {
namespace {

void explain(benchmark::State& state, const std::string& algorithm, const Bindings& settings) {
  Module module = parse_file(std::string(DISTAL_SOURCE_DIR) + "/algorithms/" + algorithm + ".distal");
  for (auto _ : state) {
    Plan plan = make_plan(compile(module), distal::core::bind(module, settings));
    benchmark::DoNotOptimize(count_cost(plan).bytes_moved);
  }
}

const Bindings kPlane{{"gx", 32}, {"gy", 32}};
const Bindings kCube{{"gx", 8}, {"gy", 8}, {"gz", 16}};

BENCHMARK_CAPTURE(explain, cannon, "cannon", kPlane)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explain, pumma, "pumma", kPlane)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explain, summa, "summa", kPlane)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explain, johnson, "johnson", kCube)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explain, solomonik, "solomonik", (Bindings{{"g", 16}, {"c", 4}}))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explain, cosma, "cosma", kCube)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explain, ttv, "ttv", kPlane)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explain, innerprod, "innerprod", kPlane)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explain, ttm, "ttm", (Bindings{{"gx", 1024}}))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explain, mttkrp, "mttkrp", kCube)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explain, matvec, "matvec", kPlane)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explain, contraction4, "contraction4", kPlane)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace distal::core

BENCHMARK_MAIN();
