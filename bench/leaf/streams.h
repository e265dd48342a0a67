#pragma once

#include <numeric>
#include <vector>

#include "parallel.h"
#include "vector.h"

namespace leaf {

// Streams whose distance is a large power of two alias in the cache. So each of several streams of more than
// kLongStream vectors is kTrim vectors shorter than its share, and the remainder is read at the end.
constexpr int64_t kLongStream = 1 << 16, kTrim = 40;

// The sum of term(x) over [first, end), read in `kStreams` streams side by side. Several streams use more of a core's
// prefetchers. Several accumulators hide the latency of an addition.
template <int kStreams, class Term>
double sum_streams(int64_t first, int64_t end, const Term& term) {
  constexpr int kUnroll = 8 / kStreams;
  int64_t share = (end - first) / kStreams;
  int64_t length = (share - (kStreams > 1 && share > kLongStream ? kTrim : 0)) / kUnroll * kUnroll;
  Vector sums[kStreams][kUnroll] = {};
  for (int64_t x = first; x < first + length; x += kUnroll) {
    for (int s = 0; s < kStreams; ++s) {
      for (int u = 0; u < kUnroll; ++u) sums[s][u] += term(s * length + x + u);
    }
  }
  Vector total = {};
  for (auto& stream : sums) {
    for (Vector& v : stream) total += v;
  }
  for (int64_t x = first + kStreams * length; x < end; ++x) total += term(x);
  return sum_of(total);
}

// The sum of term(x) over [0, vectors): each thread sums one part.
template <int kStreams, class Term>
double sum_in_parallel(int threads, int64_t vectors, const Term& term) {
  std::vector<double> sums(static_cast<size_t>(threads) * kLanes);  // one cache line per thread
  parallel(threads, vectors, [&](int part, int64_t begin, int64_t end) {
    sums[part * kLanes] = sum_streams<kStreams>(begin, end, term);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace leaf
