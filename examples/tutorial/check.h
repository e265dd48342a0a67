#pragma once

// What the programs of the tutorial share: data, and the product by its definition. All elements are small whole
// numbers, so that every sum is exact: a result is right or wrong, and nothing has to be allowed for rounding.

#include <distal/distal.h>

#include <cstdio>

namespace tutorial {

inline void fill(distal::Tensor<double>& tensor, int64_t salt) {
  tensor.fill([&](const std::vector<int64_t>& at) {
    int64_t value = salt;
    for (int64_t x : at) value = (value * 5 + x * 3 + 1) % 11;
    return static_cast<double>(value - 5);
  });
}

// Whether A = B C; says so.
inline bool is_product(const distal::Tensor<double>& A, const distal::Tensor<double>& B,
                       const distal::Tensor<double>& C) {
  bool right = true;
  for (int64_t i = 0; i < A.shape()[0]; ++i) {
    for (int64_t j = 0; j < A.shape()[1]; ++j) {
      double want = 0;
      for (int64_t k = 0; k < B.shape()[1]; ++k) want += B.at({i, k}) * C.at({k, j});
      right = right && A.at({i, j}) == want;
    }
  }
  std::puts(right ? "the product is right" : "the product is wrong");
  return right;
}

}  // namespace tutorial
