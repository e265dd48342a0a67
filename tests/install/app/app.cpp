// An application with its own data: three matrices in plain vectors, one block of rows for each of eight processors.
// DISTAL multiplies them in place by the 2.5D algorithm of Solomonik and Demmel on a 2x2x2 machine.

#include <distal/distal.h>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace distal;

constexpr int64_t kSize = 29;  // a prime, so the last block is shorter
constexpr int64_t kProcessors = 8;
constexpr int64_t kRows = (kSize + kProcessors - 1) / kProcessors;

// The application's own matrix: block p has the rows from p * kRows on.
struct Rows {
  std::vector<std::vector<double>> blocks;

  explicit Rows(int64_t salt) {
    for (int64_t p = 0; p < kProcessors; ++p) blocks.emplace_back(std::min(kRows, kSize - p * kRows) * kSize);
    for (int64_t e = 0; e < kSize * kSize; ++e) at(e / kSize, e % kSize) = static_cast<double>((e * salt) % 17 - 8);
  }
  double& at(int64_t row, int64_t column) { return blocks[row / kRows][row % kRows * kSize + column]; }
  // Binds the blocks to a tensor. Returns false if some piece of the tensor has other rows than its block.
  bool bind_to(Tensor<double>& tensor) {
    for (int64_t p = 0; p < kProcessors; ++p) tensor.bind(p, blocks[p].data());
    for (const PieceInfo& piece : tensor.pieces()) {
      int64_t first = piece.rectangles[0].lo[0];
      auto size = static_cast<int64_t>(blocks[piece.processor].size());
      bool same = first == piece.processor * kRows && piece.extents[0] * piece.extents[1] == size;
      if (!same || piece.rectangles.size() != 1 || piece.data != blocks[piece.processor].data()) return false;
    }
    return true;
  }
};

RunReport multiply(Rows& a, Rows& b, Rows& c, Cost& cost) {
  Param n(kSize), g(2), layers(2);
  // A level can partition a tensor dimension only once. So each dimension of the cube is a level of its own, which
  // partitions the rows over all eight processors. The block sizes are given: the default, halves of halves of halves,
  // would begin at other rows if 8 does not divide n.
  Machine cube({Grid(g), Grid(g), Grid(layers)});
  Distribution by_rows = Distribution::hierarchical(cube, {{0}, {0}, {0}});
  by_rows.cyclic(0, 4 * kRows, 0).cyclic(0, 2 * kRows, 1).cyclic(0, kRows, 2);
  Format rows({Dense, Dense}, by_rows);
  Tensor<double> A({n, n}, rows), B({n, n}, rows), C({n, n}, rows);
  if (!a.bind_to(A) || !b.bind_to(B) || !c.bind_to(C)) throw Error("the tensors have another layout");
  IndexVar i, j, k, io, jo, ko, ii, ji, ki, kio, kii, kios;
  A(i, j) = B(i, k) * C(k, j);
  A.schedule()
      .divide(i, io, ii, g)
      .divide(j, jo, ji, g)
      .divide(k, ko, ki, layers)
      .divide(ki, kio, kii, ceildiv(g, layers))
      .reorder({io, jo, ko, kio, ii, ji, kii})
      .distribute({io}, cube[0])
      .distribute({jo}, cube[1])
      .distribute({ko}, cube[2])
      .rotate(kio, {io, jo}, kios)
      .communicate(A, ko)
      .communicate({B, C}, kios)
      .substitute({ii, ji, kii}, BLAS::GeMM);
  Kernel kernel = A.compile();
  cost = kernel.cost();
  return kernel.run();
}

// Every element is a sum of small whole numbers, so it must be exact.
bool is_product(Rows& a, Rows& b, Rows& c) {
  for (int64_t i = 0; i < kSize; ++i) {
    for (int64_t j = 0; j < kSize; ++j) {
      double want = 0;
      for (int64_t k = 0; k < kSize; ++k) want += b.at(i, k) * c.at(k, j);
      if (a.at(i, j) != want) return false;
    }
  }
  return true;
}

int main() {
  Rows a(0), b(5), c(11);
  Cost cost;
  RunReport report = multiply(a, b, c, cost);
  std::printf("moved %lld bytes in %lld messages, expected %lld in %lld\n", static_cast<long long>(report.bytes_moved),
              static_cast<long long>(report.messages), static_cast<long long>(cost.bytes_moved),
              static_cast<long long>(cost.messages));
  bool as_expected = report.bytes_moved == cost.bytes_moved && report.messages == cost.messages;
  if (!as_expected) std::puts("the run did not move what its cost says");
  bool right = is_product(a, b, c);
  if (!right) std::puts("the product is wrong");
  return as_expected && right && cost.processors == kProcessors ? 0 : 1;
}
