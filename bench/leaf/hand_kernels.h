#pragma once

#include <memory>

#include "blas.h"
#include "parallel.h"
#include "problem.h"
#include "streams.h"
#include "timing.h"
#include "vector.h"

// Kernels written by hand for this benchmark, with plain threads and without DISTAL. Where DISTAL misses a target, they
// show whether another program would meet it. Each kernel has several candidates, of which the fastest counts.
namespace leaf {

// A(i,j) = B(i,k) * C(k,j): each thread calls BLAS once, for its rows of A, or for its part of the sum into a partial
// of A.
template <class T>
class HandGemm {
 public:
  // `blas` must run in one thread.
  HandGemm(const Problem<T>& problem, const Blas& blas, int threads)
      : p_(problem), blas_(blas), threads_(threads), partials_((threads - 1) * n('i') * n('j')) {}

  void by_rows() const {
    parallel(threads_, n('i'), [&](int, int64_t begin, int64_t end) {
      blas_.gemm(end - begin, n('j'), n('k'), b() + begin * n('k'), c(), a() + begin * n('j'));
    });
  }

  void by_sum() const {
    int64_t size = n('i') * n('j');
    auto output = [&](int part) { return part == 0 ? a() : partials_.data() + (part - 1) * size; };
    parallel(threads_, n('k'), [&](int part, int64_t begin, int64_t end) {
      blas_.gemm(n('i'), n('j'), end - begin, b() + begin, c() + begin * n('j'), output(part), n('k'));
    });
    parallel(threads_, size, [&](int, int64_t begin, int64_t end) {
      for (int part = 1; part < threads_; ++part) {
        const T* other = output(part);
        for (int64_t x = begin; x < end; ++x) a()[x] += other[x];
      }
    });
  }

 private:
  int64_t n(char index) const { return p_.extents.at(index); }
  T* a() const { return p_.data("A"); }
  T* b() const { return p_.data("B"); }
  T* c() const { return p_.data("C"); }

  const Problem<T>& p_;
  const Blas& blas_;
  int threads_;
  Array<T> partials_;
};

// a = B(i,j,k) * C(i,j,k)
template <int kStreams>
void hand_innerprod(const Problem<double>& p, int threads) {
  const auto* x = reinterpret_cast<const Vector*>(p.data("B"));
  const auto* y = reinterpret_cast<const Vector*>(p.data("C"));
  *p.data("a") =
      sum_in_parallel<kStreams>(threads, p.arrays.at("B").size() / kLanes, [=](int64_t v) { return x[v] * y[v]; });
}

// Transposes a block of 8 by 8 in three rounds of shuffles.
inline void transpose_block(Vector (&r)[8]) {
  using Lanes = int64_t __attribute__((vector_size(64)));
  auto exchange = [&](int distance, Lanes low, Lanes high) {
    for (int x = 0; x < 8; ++x) {
      if (x & distance) continue;
      Vector a = r[x], b = r[x + distance];
      r[x] = __builtin_shuffle(a, b, low);
      r[x + distance] = __builtin_shuffle(a, b, high);
    }
  };
  exchange(1, Lanes{0, 8, 2, 10, 4, 12, 6, 14}, Lanes{1, 9, 3, 11, 5, 13, 7, 15});
  exchange(2, Lanes{0, 1, 8, 9, 4, 5, 12, 13}, Lanes{2, 3, 10, 11, 6, 7, 14, 15});
  exchange(4, Lanes{0, 1, 2, 3, 8, 9, 10, 11}, Lanes{4, 5, 6, 7, 12, 13, 14, 15});
}

// A(i,j) = B(j,i) + C(i,j) in tiles of `kRows` rows by `kColumns` columns of A. kNonTemporal stores A around the
// caches. kPrefetch prefetches the next tile of B, eight cache lines with each block of 8 by 8.
template <int kColumns, int kRows, bool kNonTemporal, bool kPrefetch>
class HandTranspose {
 public:
  HandTranspose(const Problem<double>& p, int threads)
      : a_(p.data("A")),
        b_(p.data("B")),
        c_(p.data("C")),
        ni_(p.extents.at('i')),
        nj_(p.extents.at('j')),
        threads_(threads) {}

  void operator()() const {
    parallel(threads_, ni_ / 8, [&](int, int64_t begin, int64_t end) {
      for (int64_t i = 8 * begin; i < 8 * end; i += kRows) {
        for (int64_t j = 0; j < nj_; j += kColumns) {
          tile(i, std::min(i + kRows, 8 * end), j, std::min(j + kColumns, nj_));
        }
      }
    });
  }

 private:
  void tile(int64_t i0, int64_t i1, int64_t j0, int64_t j1) const {
    const double* next = b_ + (j1 < nj_ ? j1 : 0) * ni_ + i0;
    int64_t prefetched = 0;
    for (int64_t i = i0; i < i1; i += 8) {
      for (int64_t j = j0; j < j1; j += 8, prefetched += 8) {
        if constexpr (kPrefetch) prefetch(next, prefetched);
        block(i, j);
      }
    }
  }

  static constexpr int64_t kLines = kRows / 8;  // cache lines of a row of B in a tile

  void prefetch(const double* next, int64_t first) const {
    for (int64_t l = first; l < first + 8; ++l) __builtin_prefetch(next + l / kLines * ni_ + l % kLines * 8, 0, 2);
  }

  void block(int64_t i, int64_t j) const {
    Vector rows[8];
    for (int x = 0; x < 8; ++x) rows[x] = *reinterpret_cast<const Vector*>(b_ + (j + x) * ni_ + i);
    transpose_block(rows);
    for (int x = 0; x < 8; ++x) {
      int64_t at = (i + x) * nj_ + j;
      if constexpr (kPrefetch) __builtin_prefetch(c_ + at + kColumns, 0, 2);
      store<kNonTemporal>(reinterpret_cast<Vector*>(a_ + at), rows[x] + *reinterpret_cast<const Vector*>(c_ + at));
    }
  }

  double* a_;
  const double *b_, *c_;
  int64_t ni_, nj_;
  int threads_;
};

template <int kColumns, int kRows>
struct Tiling {
  // Adds the candidates with and without non-temporal stores, with and without prefetch.
  static void add(Candidates& candidates, const Problem<double>& p, int threads) {
    candidates.push_back(HandTranspose<kColumns, kRows, false, false>(p, threads));
    candidates.push_back(HandTranspose<kColumns, kRows, false, true>(p, threads));
    candidates.push_back(HandTranspose<kColumns, kRows, true, false>(p, threads));
    candidates.push_back(HandTranspose<kColumns, kRows, true, true>(p, threads));
  }
};

template <class... Tilings>
Candidates tiled_candidates(const Problem<double>& p, int threads) {
  Candidates candidates;
  (Tilings::add(candidates, p, threads), ...);
  return candidates;
}

inline Candidates transpose_candidates(const Problem<double>& p, int threads) {
  return tiled_candidates<Tiling<8, 64>, Tiling<8, 512>, Tiling<16, 64>, Tiling<16, 256>, Tiling<32, 32>,
                          Tiling<32, 128>, Tiling<64, 8>, Tiling<64, 64>, Tiling<128, 8>, Tiling<128, 64>,
                          Tiling<256, 8>, Tiling<1024, 8>>(p, threads);
}

// The candidates of a kernel; empty if there are none. The part of `kernel` before a dash selects them.
template <class T>
FastestCandidate hand_candidates(const std::string& kernel, const Problem<T>& p, const Blas& blas, int threads) {
  std::string name = kernel.substr(0, kernel.find('-'));
  if (name == "gemm") {
    auto gemm = std::make_shared<HandGemm<T>>(p, blas, threads);
    return FastestCandidate({[gemm] { gemm->by_rows(); }, [gemm] { gemm->by_sum(); }});
  }
  if constexpr (std::is_same_v<T, double>) {
    auto fills_vectors = [](const auto& extent) { return extent.second % kLanes == 0; };
    if (!std::all_of(p.extents.begin(), p.extents.end(), fills_vectors)) return {};
    if (name == "transpose") return FastestCandidate(transpose_candidates(p, threads));
    if (name == "innerprod") {
      return FastestCandidate(
          {[&p, threads] { hand_innerprod<1>(p, threads); }, [&p, threads] { hand_innerprod<2>(p, threads); },
           [&p, threads] { hand_innerprod<4>(p, threads); }, [&p, threads] { hand_innerprod<8>(p, threads); }});
    }
  }
  return {};
}

}  // namespace leaf
