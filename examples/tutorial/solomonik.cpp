// Chapter 4 of the tutorial: the 2.5D algorithm of Solomonik and Demmel, which uses more memory to move fewer bytes.

#include <distal/distal.h>

#include <cstdio>

#include "check.h"

using namespace distal;

struct Shape {
  int64_t gx, gy, c;
};

int mebibytes(int64_t bytes) { return int((bytes + (1 << 19)) >> 20); }

int main() {
  Param n("n", 96), gx("gx", 2), gy("gy", 2), c("c", 2);
  Machine M(Grid(gx, gy, c), "M");
  Format front({Dense, Dense}, Distribution(M, {0, 1, Face{0}}));
  Tensor<double> A("A", {n, n}, front), B("B", {n, n}, front), C("C", {n, n}, front);

  IndexVar i("i"), j("j"), k("k"), io("io"), jo("jo"), ko("ko"), ii("ii"), ji("ji"), ki("ki");
  IndexVar kio("kio"), kii("kii"), kios("kios");
  A(i, j) = B(i, k) * C(k, j);
  A.schedule()
      .distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
      .divide(ki, kio, kii, ceildiv(gx, c))
      .reorder({kio, ii, ji, kii})
      .rotate(kio, {io, jo}, kios)
      .communicate(A, jo)
      .communicate({B, C}, kios)
      .substitute({ii, ji, kii}, BLAS::GeMM);
  Kernel kernel = A.compile();

  for (const Shape& shape : {Shape{2, 2, 1}, {2, 2, 2}}) {
    gx = shape.gx;
    gy = shape.gy;
    c = shape.c;
    Cost cost = kernel.cost();
    std::printf("Grid(%d, %d, %d)\n", int(shape.gx), int(shape.gy), int(shape.c));
    for (const auto& [name, moved] : cost.tensors) {
      std::printf("  %s: %6d bytes in %2d messages, %s\n", name.c_str(), int(moved.bytes), int(moved.messages),
                  moved.pattern.c_str());
    }
  }

  tutorial::fill(B, 1);
  tutorial::fill(C, 2);
  RunReport report = kernel.run();
  bool right = tutorial::is_product(A, B, C) && report.bytes_moved == kernel.cost().bytes_moved;

  n = 6144;
  for (const Shape& shape : {Shape{8, 8, 1}, {8, 4, 2}, {4, 4, 4}, {32, 32, 1}, {32, 16, 2}, {16, 16, 4}}) {
    gx = shape.gx;
    gy = shape.gy;
    c = shape.c;
    Cost cost = kernel.cost();
    std::printf("Grid(%2d, %2d, %d): %5d MiB moved, %3d MiB to one processor at most, %3d MiB of memory\n",
                int(shape.gx), int(shape.gy), int(shape.c), mebibytes(cost.bytes_moved),
                mebibytes(cost.max_bytes_received), mebibytes(cost.peak_bytes_per_processor));
  }
  return right ? 0 : 1;
}
