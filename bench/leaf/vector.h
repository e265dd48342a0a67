#pragma once

#include <cstdint>

namespace leaf {

// As wide as a cache line.
using Vector = double __attribute__((vector_size(64)));
constexpr int64_t kLanes = 8;

inline double sum_of(const Vector& v) {
  double sum = 0;
  for (int l = 0; l < kLanes; ++l) sum += v[l];
  return sum;
}

// Past the caches if the compiler knows such stores.
template <bool kPastCaches>
void store(Vector* to, const Vector& v) {
#ifdef __AVX512F__
  if constexpr (kPastCaches) {
    __builtin_ia32_movntpd512(reinterpret_cast<double*>(to), v);
    return;
  }
#endif
  *to = v;
}

}  // namespace leaf
