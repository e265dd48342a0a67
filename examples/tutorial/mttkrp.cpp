// Chapter 5 of the tutorial: MTTKRP, a tensor of three dimensions and two matrices.

#include <distal/distal.h>

#include <cstdio>

#include "check.h"

using namespace distal;

// Whether A(i, l) = B(i, j, k) * C(j, l) * D(k, l); also prints the answer.
bool is_mttkrp(const Tensor<double>& A, const Tensor<double>& B, const Tensor<double>& C, const Tensor<double>& D) {
  std::vector<double> a = tutorial::elements(A), c = tutorial::elements(C), d = tutorial::elements(D);
  int64_t ni = B.shape()[0], nj = B.shape()[1], nk = B.shape()[2], nl = A.shape()[1];
  for (int64_t i = 0; i < ni; ++i) {
    for (int64_t j = 0; j < nj; ++j) {
      for (int64_t k = 0; k < nk; ++k) {
        double b = B.at({i, j, k});
        for (int64_t l = 0; l < nl; ++l) a[i * nl + l] -= b * c[j * nl + l] * d[k * nl + l];
      }
    }
  }
  bool right = a == std::vector<double>(a.size(), 0.0);
  std::puts(right ? "the result is right" : "the result is wrong");
  return right;
}

void print(const Cost& cost) {
  for (const auto& [name, moved] : cost.tensors) {
    std::printf("  %s: %4d bytes, %s\n", name.c_str(), int(moved.bytes), moved.pattern.c_str());
  }
}

int main() {
  Param ni("ni", 24), nj("nj", 20), nk("nk", 16), nl("nl", 8), g("g", 2);
  Machine M(Grid(g, g, g), "M");
  Everywhere all;
  Format rows({Dense, Dense}, Distribution(M, {0, Face{0}, Face{0}}));
  Format blocks({Dense, Dense, Dense}, Distribution(M, {0, 1, 2}));
  Format along_j({Dense, Dense}, Distribution(M, {all, 0, all}));
  Format along_k({Dense, Dense}, Distribution(M, {all, all, 0}));
  Tensor<double> A("A", {ni, nl}, rows), B("B", {ni, nj, nk}, blocks), C("C", {nj, nl}, along_j),
      D("D", {nk, nl}, along_k);
  tutorial::fill(B, 1);
  tutorial::fill(C, 2);
  tutorial::fill(D, 3);

  IndexVar i("i"), j("j"), k("k"), l("l"), io("io"), jo("jo"), ko("ko"), ii("ii"), ji("ji"), ki("ki");
  auto in_place = [&](Schedule& schedule) {
    schedule.distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
        .reorder({ii, ji, ki, l})
        .communicate({A, B, C, D}, ko);
  };

  A(i, l) = B(i, j, k) * C(j, l) * D(k, l);
  A.schedule().apply(in_place).parallelize(ii).vectorize(l);
  Kernel fused = A.compile();
  fused.run();
  bool right = is_mttkrp(A, B, C, D);
  print(fused.cost());

  IndexVar lw("lw");
  A(i, l) = B(i, j, k) * C(j, l) * D(k, l);
  A.schedule().apply(in_place).precompute(B(i, j, k) * D(k, l), {l}, {lw}, "W").vectorize(lw).vectorize(l);
  Kernel factored = A.compile();
  A.fill([](const auto&) { return -1.0; });
  factored.run();
  right = is_mttkrp(A, B, C, D) && right;
  std::printf("%s\n", factored.program().c_str());

  C.redistribute(Format({Dense, Dense}, Distribution(M, {Face{0}, 0, Face{0}})));
  std::puts("with one copy of C:");
  print(factored.cost());
  factored.run();
  right = is_mttkrp(A, B, C, D) && right;
  return right ? 0 : 1;
}
