// A product for which only the number of processors is given: grid, formats and schedule are found.

#include <distal/distal.h>

#include <cmath>
#include <cstdio>
#include <string>

using namespace distal;

int main() {
  Param n("n", 60);
  Machine M(Processors(4), "M");
  Tensor<double> A("A", {n, n}, Format(M)), B("B", {n, n}, Format(M)), C("C", {n, n}, Format(M));
  IndexVar i("i"), j("j"), k("k");
  B.fill([](const auto& at) { return double(at[0] - at[1]); });
  C.fill([](const auto& at) { return double(at[0] + at[1]); });

  A(i, j) = B(i, k) * C(k, j);
  Kernel kernel = A.compile({.goal = Goal::Bytes});  // moves B and C into the formats that it finds
  kernel.run();

  std::printf("%s", kernel.text().c_str());
  double want = 0;
  for (int64_t x = 0; x < 60; ++x) want += double(7 - x) * double(x + 9);
  bool right = std::abs(A.at({7, 9}) - want) < 1e-6;
  std::printf("%d processors have work, and the product is %s\n", int(kernel.cost().processors_with_work),
              right ? "right" : "wrong");
  return right ? 0 : 1;
}
