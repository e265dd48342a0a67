#pragma once

// Shared by the programs of the tutorial: test data, and a check of a product by its definition. All elements are small
// integers, so every sum is exact and the check needs no tolerance for rounding.

#include <distal/distal.h>

#include <cstdio>
#include <vector>

namespace tutorial {

inline void fill(distal::Tensor<double>& tensor, int64_t salt) {
  tensor.fill([&](const std::vector<int64_t>& at) {
    int64_t value = salt;
    for (int64_t x : at) value = (value * 5 + x * 3 + 1) % 11;
    return static_cast<double>(value - 5);
  });
}

// All elements, row by row.
inline std::vector<double> elements(const distal::Tensor<double>& matrix) {
  std::vector<double> out;
  for (int64_t i = 0; i < matrix.shape()[0]; ++i) {
    for (int64_t j = 0; j < matrix.shape()[1]; ++j) out.push_back(matrix.at({i, j}));
  }
  return out;
}

// Whether A = B C; also prints the answer.
inline bool is_product(const distal::Tensor<double>& A, const distal::Tensor<double>& B,
                       const distal::Tensor<double>& C) {
  int64_t rows = A.shape()[0], columns = A.shape()[1], depth = B.shape()[1];
  std::vector<double> a = elements(A), b = elements(B), c = elements(C);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t k = 0; k < depth; ++k) a[i * columns + j] -= b[i * depth + k] * c[k * columns + j];
    }
  }
  bool right = a == std::vector<double>(a.size(), 0.0);
  std::puts(right ? "the product is right" : "the product is wrong");
  return right;
}

}  // namespace tutorial
