#pragma once

#include <numeric>

#include "array.h"
#include "blas.h"
#include "parallel.h"
#include "timing.h"
#include "vector.h"

// What the machine can do: read, read and write, and multiply. Each is the best of several ways, so that the limit is
// the machine's and not a loop's.
namespace leaf {

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
  return sum_of(total);
}

// a = b + 3 c
template <bool kPastCaches>
void triad_part(Vector* a, const Vector* b, const Vector* c, int64_t vectors) {
  for (int64_t x = 0; x < vectors; ++x) store<kPastCaches>(a + x, b[x] + 3.0 * c[x]);
}

// The best matrix multiplication of several sizes.
template <class T>
Timing peak(const Blas& blas, const std::vector<int64_t>& sizes, double seconds) {
  Timing best;
  for (int64_t n : sizes) {
    Array<T> a(n * n), b(n * n), c(n * n);
    fill(a, 1);
    fill(b, 2);
    Timing t = repeat(seconds, [&] { blas.gemm(n, n, n, a.data(), b.data(), c.data()); });
    t.work = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    if (best.work == 0 || t.work / t.best > best.work / best.best) best = t;
  }
  return best;
}

class Bandwidth {
 public:
  Bandwidth(int threads, int64_t bytes) : threads_(threads), memory_(std::max(bytes / 8, 3 * kLanes)) {
    for (double& x : memory_.span()) x = 1.5;
  }
  Bandwidth(const Bandwidth&) = delete;  // its ways refer to it
  Bandwidth& operator=(const Bandwidth&) = delete;

  Timing read(double seconds) { return with_work(read_.time(seconds), memory_.size() / kLanes * kLanes); }
  Timing triad(double seconds) { return with_work(triad_.time(seconds), memory_.size() / 3 / kLanes * kLanes * 3); }

 private:
  static Timing with_work(Timing timing, int64_t numbers) {
    timing.work = 8.0 * static_cast<double>(numbers);
    return timing;
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

  int threads_;
  Array<double> memory_;
  BestWay read_{{[&] { sum<1>(); }, [&] { sum<2>(); }, [&] { sum<4>(); }, [&] { sum<8>(); }}};
  BestWay triad_{{[&] { triad_all<false>(); }, [&] { triad_all<true>(); }}};
  volatile double sink_ = 0;  // the sums must be made
};

}  // namespace leaf
