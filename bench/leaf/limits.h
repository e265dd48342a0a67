#pragma once

#include "array.h"
#include "blas.h"
#include "parallel.h"
#include "streams.h"
#include "timing.h"
#include "vector.h"

// The limits of the machine: the bandwidth of reading and of a triad, and the speed of GEMM. Each is the best of
// several candidates, so that the machine is the limit and not one loop.
namespace leaf {

// a = b + 3 c
template <bool kNonTemporal>
void triad_part(Vector* a, const Vector* b, const Vector* c, int64_t vectors) {
  for (int64_t x = 0; x < vectors; ++x) store<kNonTemporal>(a + x, b[x] + 3.0 * c[x]);
}

// The best GEMM of several sizes.
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
  Bandwidth(const Bandwidth&) = delete;  // its candidates refer to it
  Bandwidth& operator=(const Bandwidth&) = delete;

  Timing read(double seconds) { return with_work(read_.time(seconds), memory_.size() / kLanes * kLanes); }
  const Candidates& read_candidates() const { return read_.all(); }
  Timing triad(double seconds) { return with_work(triad_.time(seconds), memory_.size() / 3 / kLanes * kLanes * 3); }

 private:
  static Timing with_work(Timing timing, int64_t numbers) {
    timing.work = 8.0 * static_cast<double>(numbers);
    return timing;
  }

  template <int kStreams>
  void sum() {
    const auto* data = reinterpret_cast<const Vector*>(memory_.data());
    sink_ = sum_in_parallel<kStreams>(threads_, memory_.size() / kLanes, [=](int64_t x) { return data[x]; });
  }

  template <bool kNonTemporal>
  void triad_all() {
    auto* a = reinterpret_cast<Vector*>(memory_.data());
    int64_t third = memory_.size() / 3 / kLanes;
    parallel(threads_, third, [&](int, int64_t begin, int64_t end) {
      triad_part<kNonTemporal>(a + begin, a + third + begin, a + 2 * third + begin, end - begin);
    });
  }

  int threads_;
  Array<double> memory_;
  FastestCandidate read_{{[&] { sum<1>(); }, [&] { sum<2>(); }, [&] { sum<4>(); }, [&] { sum<8>(); }}};
  FastestCandidate triad_{{[&] { triad_all<false>(); }, [&] { triad_all<true>(); }}};
  volatile double sink_ = 0;  // keeps the compiler from removing the sums
};

}  // namespace leaf
