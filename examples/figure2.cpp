// Figure 2 of the paper: a distributed matrix multiply by SUMMA, with CPU memory and the CPU's GEMM.

#include <distal/distal.h>

#include <cmath>
#include <cstdio>

using namespace distal;

int main() {
  // Declare input parameters for generated code.
  Param gx(2), gy(2), n(512), chunkSize(128);
  // Define the target machine m as a 2D grid of processors.
  Machine m(Grid(gx, gy));

  // A tensor's format describes how it is distributed onto m: here, in two-dimensional tiles.
  Distribution tiles(m, {0, 1}, Memory::CPU_MEM);  // (x, y) -> m(x, y)
  Format f({Dense, Dense}, tiles);

  // Declare three dense matrices with the same format.
  Tensor<double> A({n, n}, f), B({n, n}, f), C({n, n}, f);

  // Declare the computation, a matrix-matrix multiply.
  IndexVar i, j, k;
  A(i, j) = B(i, k) * C(k, j);

  // Map the computation onto m via scheduling commands.
  IndexVar io, ii, jo, ji, ko, ki;
  A.schedule()
      .divide(i, io, ii, m.x)
      .divide(j, jo, ji, m.y)
      .reorder({io, jo, ii, ji})
      .distribute(io)
      .distribute(jo)
      .split(k, ko, ki, chunkSize)
      .reorder({io, jo, ko, ii, ji, ki})
      .communicate(A, jo)
      .communicate({B, C}, ko)
      .substitute({ii, ji, ki}, BLAS::GeMM);

  // Give the inputs values, run, and look at one element of the result.
  B.fill([](const auto& at) { return 1.0 / static_cast<double>(at[0] + at[1] + 1); });
  C.fill([](const auto& at) { return static_cast<double>(at[0] - at[1]); });
  RunReport report = A.compile().run();
  double want = 0;
  for (int64_t x = 0; x < n.value(); ++x) want += B.at({3, x}) * C.at({x, 5});
  std::printf("moved %lld bytes, A(3, 5) = %g\n", static_cast<long long>(report.bytes_moved), A.at({3, 5}));
  return std::abs(A.at({3, 5}) - want) <= 1e-9 * std::abs(want) ? 0 : 1;
}
