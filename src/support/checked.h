#pragma once

#include <cstdint>

#include "support/error.h"

namespace distal::core {

// For counts of points and flops: the product of three indices of a real problem exceeds 64 bits.
__extension__ typedef __int128 Int128;  // NOLINT: `using` would not take __extension__

// 64-bit arithmetic that throws an Error on overflow. Sizes come from the user, and a silent overflow would pass every
// later check.
inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) throw Error("a size does not fit in 64 bits");
  return r;
}

inline int64_t checked_sub(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_sub_overflow(a, b, &r)) throw Error("a size does not fit in 64 bits");
  return r;
}

inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) throw Error("a size does not fit in 64 bits");
  return r;
}

// Division that rounds down (floor_div) or up (ceil_div). The divisor must be positive.
inline int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && (a < 0)) ? q - 1 : q;
}

inline int64_t ceil_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && (a > 0)) ? q + 1 : q;
}

inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

}  // namespace distal::core
