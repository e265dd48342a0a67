// A short application: each processor has a block of rows of each matrix. DISTAL multiplies them by 2.5D.
#include <distal/distal.h>

#include <vector>

using namespace distal;

int main() {
  constexpr int64_t n = 48, p = 8, block = n / p * n;
  std::vector<double> a(n * n), b(n * n), c(n * n);
  for (int64_t e = 0; e < n * n; ++e) b[e] = static_cast<double>(e % 7), c[e] = static_cast<double>(e % 5);

  Machine line{Grid(p)}, cube{Grid(2, 2, 2)};
  Format rows({Dense, Dense}, Distribution(line, {0})), tiles({Dense, Dense}, Distribution(cube, {0, 1, Face{0}}));
  Tensor<double> A({n, n}, rows), B({n, n}, rows), C({n, n}, rows), X({n, n}, tiles), Y({n, n}, tiles),
      Z({n, n}, tiles);
  for (int64_t q = 0; q < p; ++q) {  // the application's own memory, without copies
    A.bind(q, {&a[q * block], block});
    B.bind(q, {&b[q * block], block});
    C.bind(q, {&c[q * block], block});
  }
  IndexVar i, j, k, io, jo, ko, ii, ji, ki, s, kii, r;
  X(i, j) = Y(i, k) * Z(k, j);
  X.schedule().apply(compound::stationary, X, std::vector{i, j, k}, std::vector{io, jo, ko}, std::vector{ii, ji, ki},
                     cube);
  X.schedule().apply(compound::systolic, std::vector<TensorHandle>{Y, Z}, ki, s, kii, 1, std::vector{ii, ji},
                     std::vector{io, jo}, r);

  bool right = true;
  for (const Kernel& kernel : {Y.copy_kernel(B), Z.copy_kernel(C), X.compile(), A.copy_kernel(X)}) {
    Cost cost = kernel.cost();  // known before the run
    RunReport report = kernel.run();
    right = right && report.bytes_moved == cost.bytes_moved && report.messages == cost.messages;
  }
  for (int64_t e = 0; e < n * n; ++e) {
    double want = 0;
    for (int64_t x = 0; x < n; ++x) want += b[e / n * n + x] * c[x * n + e % n];
    right = right && a[e] == want;
  }
  return right ? 0 : 1;
}
