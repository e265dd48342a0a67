#pragma once

#include <cstdint>

namespace leaf {

// One cache line of doubles.
using Vector = double __attribute__((vector_size(64)));
constexpr int64_t kLanes = 8;

inline double sum_of(const Vector& v) {
  double sum = 0;
  for (int l = 0; l < kLanes; ++l) sum += v[l];
  return sum;
}

// Stores a vector; with kNonTemporal around the caches, if the compiler has such stores.
template <bool kNonTemporal>
void store(Vector* to, const Vector& v) {
#ifdef __AVX512F__
  if constexpr (kNonTemporal) {
    __builtin_ia32_movntpd512(reinterpret_cast<double*>(to), v);
    return;
  }
#endif
  *to = v;
}

}  // namespace leaf
