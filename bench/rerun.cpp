// Measures a small kernel that runs many times, and a direct call of the same BLAS function.

#include <benchmark/benchmark.h>
#include <distal/distal.h>

#include "leaf/blas_library.h"

namespace distal {
namespace {

void kernel(benchmark::State& state) {
  Param n(state.range(0));
  Machine m{Grid(1, 1)};
  Format f{{Dense, Dense}, Distribution(m, {0, 1})};
  Tensor<double> A({n, n}, f), B({n, n}, f), C({n, n}, f);
  IndexVar i, j, k, io, jo, ii, ji;
  A(i, j) = B(i, k) * C(k, j);
  A.schedule().distribute({i, j}, {io, jo}, {ii, ji}, m).communicate({A, B, C}, jo).substitute({ii, ji, k}, BLAS::GeMM);
  Kernel product = A.compile();
  for (auto _ : state) benchmark::DoNotOptimize(product.run());
}

void blas(benchmark::State& state) {
  auto n = static_cast<int>(state.range(0));
  auto size = static_cast<size_t>(n) * static_cast<size_t>(n);
  std::vector<double> a(size), b(size, 1), c(size, 2);
  const auto& direct = std::get<core::Cblas<double>>(core::blas_library().functions);
  for (auto _ : state) {
    direct.gemm(core::CblasRowMajor, core::CblasNoTrans, core::CblasNoTrans, n, n, n, 1, b.data(), n, c.data(), n, 0,
                a.data(), n);
    benchmark::DoNotOptimize(a.data());
  }
}

BENCHMARK(kernel)->RangeMultiplier(2)->Range(4, 64);
BENCHMARK(blas)->RangeMultiplier(2)->Range(4, 64);

}  // namespace
}  // namespace distal

BENCHMARK_MAIN();
