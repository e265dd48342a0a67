// Chapter 1 of the tutorial: a matrix multiplication on one processor.

#include <distal/distal.h>

#include <cstdio>

#include "check.h"

using namespace distal;

int main() {
  Param ni("ni", 60), nj("nj", 50), nk("nk", 40);
  Tensor<double> A("A", {ni, nj}), B("B", {ni, nk}), C("C", {nk, nj});
  tutorial::fill(B, 1);
  tutorial::fill(C, 2);

  IndexVar i("i"), j("j"), k("k");
  A(i, j) = B(i, k) * C(k, j);

  Kernel loops = A.compile();
  loops.run();
  bool right = tutorial::is_product(A, B, C);

  Param tile("tile", 16);
  IndexVar io("io"), ii("ii"), jo("jo"), ji("ji"), ko("ko"), ki("ki");
  A.schedule()
      .split(i, io, ii, tile)
      .split(j, jo, ji, tile)
      .split(k, ko, ki, tile)
      .reorder({io, jo, ko, ii, ji, ki})
      .substitute({ii, ji, ki}, BLAS::GeMM);

  A.fill([](const auto&) { return -1.0; });
  Kernel tiles = A.compile();
  tiles.run();
  right = tutorial::is_product(A, B, C) && right;

  std::printf("\n%s\n%s", tiles.text().c_str(), tiles.program().c_str());

  tile = 7;
  A.fill([](const auto&) { return -1.0; });
  tiles.run();
  right = tutorial::is_product(A, B, C) && right;
  return right ? 0 : 1;
}
