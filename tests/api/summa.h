#pragma once

#include <distal/distal.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace distal {

// A small whole number that depends on the coordinates and on the salt.
inline double value_of(const std::vector<int64_t>& at, double salt) {
  double v = salt;
  for (int64_t x : at) v = std::fmod(v * 7.0 + static_cast<double>(x) * 3.0 + 1.0, 11.0);
  return v - 5.0;
}

inline void fill(Tensor<double>& t, double salt) {
  t.fill([&](const std::vector<int64_t>& at) { return value_of(at, salt); });
}

// Checks A = B C by definition. Small whole numbers make it exact.
inline void expect_product(const Tensor<double>& a, const Tensor<double>& b, const Tensor<double>& c) {
  std::vector<int64_t> rows = a.shape();
  int64_t depth = b.shape()[1];
  for (int64_t i = 0; i < rows[0]; ++i) {
    for (int64_t j = 0; j < rows[1]; ++j) {
      double want = 0;
      for (int64_t k = 0; k < depth; ++k) want += b.at({i, k}) * c.at({k, j});
      ASSERT_EQ(a.at({i, j}), want) << i << ", " << j;
    }
  }
}

// SUMMA on a grid of gx by gy, as in the paper's Figure 2.
struct Summa {
  Param gx{2}, gy{2}, ni{7}, nj{9}, nk{11}, chunk{3};
  Machine m{Grid(gx, gy)};
  Format f{{Dense, Dense}, Distribution(m, {0, 1})};
  Tensor<double> A{"A", {ni, nj}, f}, B{"B", {ni, nk}, f}, C{"C", {nk, nj}, f};

  Summa() {
    IndexVar i, j, k, io, ii, jo, ji, ko, ki;
    A(i, j) = B(i, k) * C(k, j);
    A.schedule()
        .distribute({i, j}, {io, jo}, {ii, ji}, m)
        .split(k, ko, ki, chunk)
        .reorder({io, jo, ko, ii, ji, ki})
        .communicate(A, jo)
        .communicate({B, C}, ko)
        .substitute({ii, ji, ki}, BLAS::GeMM);
  }
};

}  // namespace distal
