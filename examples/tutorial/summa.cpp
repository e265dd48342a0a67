// Chapter 2 of the tutorial: SUMMA, a matrix multiplication on a grid of processors.

#include <distal/distal.h>

#include <cstdio>

#include "check.h"

using namespace distal;

int main() {
  Param n("n", 96), gx("gx", 2), gy("gy", 2), chunk("chunk", 24);
  Machine M(Grid(gx, gy), "M");

  Distribution tiles(M, {0, 1});
  Format tiled({Dense, Dense}, tiles);
  Tensor<double> A("A", {n, n}, tiled), B("B", {n, n}, tiled), C("C", {n, n}, tiled);
  tutorial::fill(B, 1);
  tutorial::fill(C, 2);

  for (const PieceInfo& piece : B.pieces()) {
    const Rectangle& r = piece.rectangles[0];
    std::printf("processor %d holds B[%d:%d, %d:%d]\n", int(piece.processor), int(r.lo[0]), int(r.hi[0]), int(r.lo[1]),
                int(r.hi[1]));
  }

  IndexVar i("i"), j("j"), k("k"), io("io"), ii("ii"), jo("jo"), ji("ji"), ko("ko"), ki("ki");
  A(i, j) = B(i, k) * C(k, j);
  A.schedule()
      .distribute({i, j}, {io, jo}, {ii, ji}, M)
      .split(k, ko, ki, chunk)
      .reorder({io, jo, ko, ii, ji, ki})
      .communicate(A, jo)
      .communicate({B, C}, ko)
      .substitute({ii, ji, ki}, BLAS::GeMM);

  Kernel summa = A.compile();
  std::printf("\n%s\n", summa.program().c_str());

  Cost cost = summa.cost();
  for (const auto& [name, moved] : cost.tensors) {
    std::printf("%s: %6d bytes in %2d messages, %s\n", name.c_str(), int(moved.bytes), int(moved.messages),
                moved.pattern.c_str());
  }

  RunReport report = summa.run();
  bool right = tutorial::is_product(A, B, C);
  right = right && report.bytes_moved == cost.bytes_moved && report.messages == cost.messages;

  for (int64_t size : {96, 48, 24, 12, 32}) {
    chunk = size;
    cost = summa.cost();
    std::printf("chunk %2d: %d bytes in %2d messages, at most %d bytes on one processor\n", int(size),
                int(cost.bytes_moved), int(cost.messages), int(cost.peak_bytes_per_processor));
  }
  return right ? 0 : 1;
}
