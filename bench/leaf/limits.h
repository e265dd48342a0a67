#pragma once

#include <numeric>

#include "array.h"
#include "blas.h"
#include "parallel.h"
#include "timing.h"

// What the machine can do: read, read and write, and multiply. Each is the best of several ways, so that the limit is
// the machine's and not a loop's.
namespace leaf {

using Vector = double __attribute__((vector_size(64)));
constexpr int64_t kLanes = 8;

// Sums `streams` runs of `length` vectors side by side. More than one stream keeps more of a core's prefetchers busy;
// the accumulators hide the latency of an addition.
template <int kStreams>
double sum_streams(const Vector* data, int64_t vectors) {
  constexpr int kUnroll = 8 / kStreams;
  int64_t length = vectors / kStreams / kUnroll * kUnroll;
  Vector sums[kStreams][kUnroll] = {};
  for (int64_t x = 0; x < length; x += kUnroll) {
    for (int s = 0; s < kStreams; ++s) {
      for (int u = 0; u < kUnroll; ++u) sums[s][u] += data[s * length + x + u];
    }
  }
  Vector total = {};
  for (auto& stream : sums) {
    for (Vector& v : stream) total += v;
  }
  double sum = 0;
  for (int l = 0; l < kLanes; ++l) sum += total[l];
  return sum;
}

// a = b + 3 c, past the caches if the compiler knows such stores.
template <bool kPastCaches>
void triad_part(Vector* a, const Vector* b, const Vector* c, int64_t vectors) {
  for (int64_t x = 0; x < vectors; ++x) {
    Vector v = b[x] + 3.0 * c[x];
#ifdef __AVX512F__
    if constexpr (kPastCaches) {
      __builtin_ia32_movntpd512(reinterpret_cast<double*>(a + x), v);
      continue;
    }
#endif
    a[x] = v;
  }
}

class Limits {
 public:
  // Bandwidths are taken over `bytes`; the speed of matrix multiplication at each of the sizes n.
  Limits(const Blas& blas, int threads, int64_t bytes, std::vector<int64_t> sizes)
      : blas_(blas), threads_(threads), sizes_(std::move(sizes)), memory_(bytes / 8) {
    for (double& x : memory_.span()) x = 1.5;
  }

  Timing read(double seconds) {
    return best_of(seconds, bytes(memory_.size()), {[&] { sum<1>(); }, [&] { sum<4>(); }, [&] { sum<8>(); }});
  }

  Timing triad(double seconds) {
    return best_of(seconds, bytes(memory_.size() / 3 / kLanes * kLanes * 3),
                   {[&] { triad_all<false>(); }, [&] { triad_all<true>(); }});
  }

  template <class T>
  Timing peak(double seconds) {
    Timing best;
    for (int64_t n : sizes_) {
      Array<T> a(n * n), b(n * n), c(n * n);
      fill(a, 1);
      fill(b, 2);
      Timing t = repeat(seconds, [&] { blas_.gemm(n, n, n, a.data(), b.data(), c.data()); });
      t.work = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
      if (best.work == 0 || t.work / t.best > best.work / best.best) best = t;
    }
    return best;
  }

 private:
  static double bytes(int64_t numbers) { return 8.0 * static_cast<double>(numbers); }

  static Timing best_of(double seconds, double work, const std::vector<std::function<void()>>& ways) {
    std::vector<double> times;
    double end = now() + seconds;
    do {
      for (const auto& way : ways) times.push_back(seconds_of(way));
    } while (now() < end);
    return summary(std::move(times), work);
  }

  template <int kStreams>
  void sum() {
    const auto* data = reinterpret_cast<const Vector*>(memory_.data());
    std::vector<double> sums(static_cast<size_t>(threads_) * kLanes);
    parallel(threads_, memory_.size() / kLanes, [&](int part, int64_t begin, int64_t end) {
      sums[part * kLanes] = sum_streams<kStreams>(data + begin, end - begin);
    });
    sink_ = std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  template <bool kPastCaches>
  void triad_all() {
    auto* a = reinterpret_cast<Vector*>(memory_.data());
    int64_t third = memory_.size() / 3 / kLanes;
    parallel(threads_, third, [&](int, int64_t begin, int64_t end) {
      triad_part<kPastCaches>(a + begin, a + third + begin, a + 2 * third + begin, end - begin);
    });
  }

  const Blas& blas_;
  int threads_;
  std::vector<int64_t> sizes_;
  Array<double> memory_;
  volatile double sink_ = 0;  // the sums must be made
};

}  // namespace leaf
