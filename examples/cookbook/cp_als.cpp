// CP-ALS: a tensor of three dimensions as a sum of R products of vectors, by alternating least squares.
// docs/cookbook.md explains the program.

#include <distal/distal.h>

#include <array>
#include <cmath>
#include <cstdio>

using namespace distal;

constexpr int64_t R = 3;

using Small = std::array<std::array<double, R>, R>;

// The inverse of a small symmetric positive matrix, by Gauss-Jordan elimination.
Small inverse(Small a) {
  Small out{};
  for (int64_t r = 0; r < R; ++r) out[r][r] = 1;
  for (int64_t p = 0; p < R; ++p) {
    for (int64_t r = 0; r < R; ++r) {
      double factor = r == p ? 1 - 1 / a[p][p] : a[r][p] / a[p][p];
      for (int64_t c = 0; c < R; ++c) {
        double pivot = a[p][c], unit = out[p][c];
        a[r][c] -= factor * pivot;
        out[r][c] -= factor * unit;
      }
    }
  }
  return out;
}

double entry(int64_t at, int64_t r, int64_t seed) { return std::sin(double(1 + at * (r + 2) + 3 * seed)); }

int main() {
  Param ni("ni", 12), nj("nj", 10), nk("nk", 8), r("r", R), p("p", 4);
  Machine M(Grid(p), "M");
  Format rows({Dense, Dense}, Distribution(M, {0}));
  Format everywhere({Dense, Dense}, Distribution(M, {Everywhere{}}));
  Format scalar({}, Distribution(M, {Everywhere{}}));
  Tensor<double> T("T", {ni, nj, nk}, Format({Dense, Dense, Dense}, Distribution(M, {0})));
  Tensor<double> X("X", {ni, r}, rows), Y("Y", {nj, r}, everywhere), Z("Z", {nk, r}, everywhere);
  Tensor<double> W("W", {r, r}, everywhere), error("error", {}, scalar);
  T.fill([](const auto& at) {
    double sum = 0;
    for (int64_t s = 0; s < R; ++s) sum += entry(at[0], s, 1) * entry(at[1], s, 2) * entry(at[2], s, 3);
    return sum;
  });
  Y.fill([](const auto& at) { return entry(at[0], at[1], 2) + 0.3 * std::cos(double(at[0] + at[1])); });
  Z.fill([](const auto& at) { return entry(at[0], at[1], 3) + 0.3 * std::cos(double(at[0] - at[1])); });

  IndexVar i("i"), j("j"), k("k"), s("s"), t("t"), io("io"), ii("ii");

  // MTTKRP of each mode, then times W, the inverse of the product of the other two Gram matrices.
  Tensor<double> MX("MX", {ni, r}, rows), MY("MY", {nj, r}, everywhere), MZ("MZ", {nk, r}, everywhere);
  MX(i, s) = T(i, j, k) * Y(j, s) * Z(k, s);
  MX.schedule().distribute({i}, {io}, {ii}, M).communicate({MX, T, Y, Z}, io);
  X(i, s) = MX(i, t) * W(t, s);
  X.schedule().distribute({i}, {io}, {ii}, M).communicate({X, MX, W}, io);
  Kernel update_x({MX, X});
  // Each processor sums over its part of i; the partial sums are reduced.
  MY(j, s) = T(i, j, k) * X(i, s) * Z(k, s);
  MY.schedule().distribute({i}, {io}, {ii}, M).communicate({MY, T, X, Z}, io);
  Y(j, s) = MY(j, t) * W(t, s);
  Kernel update_y({MY, Y});
  MZ(k, s) = T(i, j, k) * X(i, s) * Y(j, s);
  MZ.schedule().distribute({i}, {io}, {ii}, M).communicate({MZ, T, X, Y}, io);
  Z(k, s) = MZ(k, t) * W(t, s);
  Kernel update_z({MZ, Z});

  Tensor<double> GX("GX", {r, r}, everywhere), GY("GY", {r, r}, everywhere), GZ("GZ", {r, r}, everywhere);
  GX(s, t) = X(i, s) * X(i, t);
  GX.schedule().distribute({i}, {io}, {ii}, M).communicate({GX, X}, io);
  GY(s, t) = Y(j, s) * Y(j, t);
  GZ(s, t) = Z(k, s) * Z(k, t);
  Kernel gram_x = GX.compile(), gram_y = GY.compile(), gram_z = GZ.compile();

  // The error is the sum of the squares of the residual.
  Tensor<double> E("E", {ni, nj, nk}, Format({Dense, Dense, Dense}, Distribution(M, {0})));
  E(i, j, k) = T(i, j, k) - X(i, s) * Y(j, s) * Z(k, s);
  E.schedule().distribute({i}, {io}, {ii}, M).communicate({E, T, X, Y, Z}, io);
  error() = E(i, j, k) * E(i, j, k);
  error.schedule().distribute({i}, {io}, {ii}, M).communicate({error, E}, io);
  Kernel residual({E, error});

  auto set_inverse = [&](const Tensor<double>& a, const Tensor<double>& b) {
    Small product{};
    for (int64_t x = 0; x < R; ++x) {
      for (int64_t y = 0; y < R; ++y) product[x][y] = a.at({x, y}) * b.at({x, y});
    }
    Small w = inverse(product);
    W.fill([&](const auto& at) { return w[at[0]][at[1]]; });
  };

  gram_y.run();
  gram_z.run();
  double before = 0;
  int sweeps = 0;
  do {
    before = error.at({});
    set_inverse(GY, GZ);
    update_x.run();
    gram_x.run();
    set_inverse(GX, GZ);
    update_y.run();
    gram_y.run();
    set_inverse(GX, GY);
    update_z.run();
    gram_z.run();
    residual.run();
  } while (++sweeps < 500 && std::abs(before - error.at({})) > 1e-14);
  bool right = error.at({}) < 1e-6;
  std::puts(right ? "three products of vectors make the tensor" : "the tensor is not reached");
  return right ? 0 : 1;
}
