// Chapter 6 of the tutorial: a kernel on the application's own buffers, in the application's layout.

#include <distal/distal.h>

#include <cstdio>
#include <vector>

using namespace distal;

// The application's matrix in ScaLAPACK's layout: square blocks are distributed cyclically over 2 by 2 processes. Each
// process holds its blocks as one dense column-major array. Nothing here knows DISTAL.
struct BlockCyclic {
  int64_t rows, columns, block;
  std::vector<std::vector<double>> local;  // by process, row by row of the process grid

  BlockCyclic(int64_t m, int64_t n, int64_t b) : rows(m), columns(n), block(b) {
    for (int64_t p : {0, 1}) {
      for (int64_t q : {0, 1}) local.emplace_back(count(m, p) * count(n, q));
    }
  }
  // How many of n rows lie on row p of the 2 by 2 processes; the same for columns.
  int64_t count(int64_t n, int64_t p) const {
    int64_t whole = n / block, rest = n % block;
    return (whole / 2 + (p < whole % 2 ? 1 : 0)) * block + (p == whole % 2 ? rest : 0);
  }
  double& at(int64_t i, int64_t j) {
    int64_t p = i / block % 2, q = j / block % 2;
    int64_t row = i / block / 2 * block + i % block, column = j / block / 2 * block + j % block;
    return local[p * 2 + q][column * count(rows, p) + row];
  }
};

// Lends the application's arrays to a tensor.
void lend(BlockCyclic& matrix, Tensor<double>& tensor) {
  for (int64_t process = 0; process < 4; ++process) tensor.bind(process, matrix.local[process]);
}

// Whether V(i, j) is the sum over k of X(k, i) * w(k) * X(k, j), in the application's arrays; also prints the answer.
bool is_integral(BlockCyclic& V, BlockCyclic& X, const Tensor<double>& w) {
  bool right = true;
  for (int64_t i = 0; i < V.rows; ++i) {
    for (int64_t j = 0; j < V.columns; ++j) {
      double want = 0;
      for (int64_t k = 0; k < X.rows; ++k) want += X.at(k, i) * w.at({k}) * X.at(k, j);
      right = right && V.at(i, j) == want;
    }
  }
  std::puts(right ? "the integrals are right" : "the integrals are wrong");
  return right;
}

// Runs a kernel. Returns whether it moved exactly what it had announced.
bool run(const char* name, const Kernel& kernel) {
  Cost cost = kernel.cost();
  RunReport report = kernel.run();
  std::printf("%s: announced %d bytes in %d messages, moved %d in %d\n", name, int(cost.bytes_moved),
              int(cost.messages), int(report.bytes_moved), int(report.messages));
  return report.bytes_moved == cost.bytes_moved && report.messages == cost.messages;
}

int main() {
  Param points("points", 60), functions("functions", 40), block("block", 8);
  Machine P(Grid(2, 2), "P");
  Distribution block_cyclic(P, {0, 1});
  block_cyclic.cyclic(0, block).cyclic(1, block);
  Format scalapack({Dense, Dense}, {1, 0}, block_cyclic);
  Everywhere all;
  Tensor<double> X("X", {points, functions}, scalapack), V("V", {functions, functions}, scalapack);
  Tensor<double> w("w", {points}, Format({Dense}, Distribution(P, {all, all})));

  IndexVar i("i"), j("j"), k("k"), io("io"), jo("jo"), ii("ii"), ji("ji"), j_round("j_round");
  V(i, j) = X(k, i) * w(k) * X(k, j);
  V.schedule().distribute({i, j}, {io, jo}, {ii, ji}, V).communicate({V, X, w}, j_round);
  Kernel integrate = V.compile();

  BlockCyclic x(points.value(), functions.value(), block.value());
  BlockCyclic v(functions.value(), functions.value(), block.value());
  for (int64_t r = 0; r < x.rows; ++r) {
    for (int64_t c = 0; c < x.columns; ++c) x.at(r, c) = double((3 * r + 5 * c) % 7 - 3);
  }
  lend(x, X);
  lend(v, V);
  w.fill([](const auto& at) { return double(at[0] % 3 + 1); });
  bool right = run("integrate", integrate);
  right = is_integral(v, x, w) && right;

  Format tiled({Dense, Dense}, Distribution(P, {0, 1}));
  Tensor<double> X_tiles("X_tiles", {points, functions}, tiled), V_tiles("V_tiles", {functions, functions}, tiled);
  IndexVar ko("ko"), ki("ki");
  V_tiles(i, j) = X_tiles(k, i) * w(k) * X_tiles(k, j);
  V_tiles.schedule()
      .distribute({i, j}, {io, jo}, {ii, ji}, P)
      .split(k, ko, ki, block)
      .reorder({ko, ii, ji, ki})
      .communicate(V_tiles, jo)
      .communicate({X_tiles, w}, ko);
  Kernel integrate_tiles = V_tiles.compile();

  for (std::vector<double>& array : v.local) array.assign(array.size(), -1.0);
  right = run("X to tiles", X_tiles.copy_kernel(X)) && right;
  right = run("integrate tiles", integrate_tiles) && right;
  right = run("V from tiles", V.copy_kernel(V_tiles)) && right;
  right = is_integral(v, x, w) && right;

  points = 75;
  functions = 33;
  block = 5;
  try {
    integrate.run();
    right = false;
  } catch (const Error& error) {
    std::puts(error.what());
  }

  BlockCyclic x2(75, 33, 5), v2(33, 33, 5);
  for (int64_t r = 0; r < x2.rows; ++r) {
    for (int64_t c = 0; c < x2.columns; ++c) x2.at(r, c) = double((r + 2 * c) % 5 - 2);
  }
  lend(x2, X);
  lend(v2, V);
  w.fill([](const auto& at) { return double(at[0] % 4 + 1); });
  right = run("integrate", integrate) && right;
  right = is_integral(v2, x2, w) && right;
  return right ? 0 : 1;
}
