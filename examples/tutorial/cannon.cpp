// Chapter 3 of the tutorial: Cannon's algorithm, and schedules as your own functions.

#include <distal/distal.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "check.h"

using namespace distal;

// A(i, j) = B(i, k) * C(k, j): the tensors and indices that a schedule for it has to know.
struct Product {
  TensorHandle A, B, C;
  IndexVar i, j, k;
};

void summa(Schedule& schedule, const Product& p, const Machine& machine) {
  IndexVar io("io"), ii("ii"), jo("jo"), ji("ji"), ko("ko"), ki("ki");
  schedule.distribute({p.i, p.j}, {io, jo}, {ii, ji}, machine)
      .divide(p.k, ko, ki, machine.x)
      .reorder({io, jo, ko, ii, ji, ki})
      .communicate(p.A, jo)
      .communicate({p.B, p.C}, ko)
      .substitute({ii, ji, ki}, BLAS::GeMM);
}

void cannon(Schedule& schedule, const Product& p, const Machine& machine) {
  IndexVar io("io"), ii("ii"), jo("jo"), ji("ji"), ko("ko"), ki("ki"), kos("kos");
  schedule.distribute({p.i, p.j}, {io, jo}, {ii, ji}, machine)
      .divide(p.k, ko, ki, machine.x)
      .reorder({io, jo, ko, ii, ji, ki})
      .rotate(ko, {io, jo}, kos)
      .communicate(p.A, jo)
      .communicate({p.B, p.C}, kos)
      .substitute({ii, ji, ki}, BLAS::GeMM);
}

void cannon_of_parts(Schedule& schedule, const Product& p, const Machine& machine) {
  IndexVar io, ii, jo, ji, ko, ki, kos;
  std::vector<IndexVar> grid{io, jo}, tile{ii, ji};
  schedule.apply(compound::stationary, p.A, std::vector{p.i, p.j}, grid, tile, machine)
      .apply(compound::systolic, std::vector{p.B, p.C}, p.k, ko, ki, machine.x, tile, grid, kos)
      .substitute({ii, ji, ki}, BLAS::GeMM);
}

void print(const char* name, const Cost& cost) {
  std::printf("%-6s on %lld processors, %lld bytes in %lld messages, B: %s, C: %s\n", name,
              static_cast<long long>(cost.processors), static_cast<long long>(cost.bytes_moved),
              static_cast<long long>(cost.messages), cost.tensors.at("B").pattern.c_str(),
              cost.tensors.at("C").pattern.c_str());
}

int main() {
  Param n("n", 90), gx("gx", 3), gy("gy", 3);
  Machine M(Grid(gx, gy), "M");
  Format tiled({Dense, Dense}, Distribution(M, {0, 1}));
  Tensor<double> A("A", {n, n}, tiled), B("B", {n, n}, tiled), C("C", {n, n}, tiled), D("D", {n, n}, tiled);
  IndexVar i("i"), j("j"), k("k");

  A(i, j) = B(i, k) * C(k, j);
  A.schedule().apply(summa, Product{A, B, C, i, j, k}, M);
  Kernel broadcasts = A.compile();

  A(i, j) = B(i, k) * C(k, j);
  A.schedule().apply(cannon, Product{A, B, C, i, j, k}, M);
  Kernel shifts = A.compile();

  print("SUMMA", broadcasts.cost());
  print("Cannon", shifts.cost());

  A(i, j) = B(i, k) * C(k, j);
  A.schedule().apply(cannon_of_parts, Product{A, B, C, i, j, k}, M);
  print("Parts", A.compile().cost());

  tutorial::fill(B, 1);
  tutorial::fill(C, 2);
  broadcasts.run();
  bool right = tutorial::is_product(A, B, C);
  A.fill([](const auto&) { return -1.0; });
  shifts.run();
  right = tutorial::is_product(A, B, C) && right;

  for (auto [rows, columns] : {std::pair{1, 9}, {3, 3}, {9, 1}}) {
    gx = rows;
    gy = columns;
    std::printf("%d by %d grid\n  ", rows, columns);
    print("Cannon", shifts.cost());
  }

  n = 32768;
  gx = 16;
  gy = 16;
  print("Cannon", shifts.cost());

  n = 60;
  gx = 2;
  gy = 2;
  D(i, j) = A(i, k) * C(k, j);
  D.schedule().apply(summa, Product{D, A, C, i, j, k}, M);
  tutorial::fill(B, 3);
  tutorial::fill(C, 4);
  Kernel both({A, D});
  both.run();
  right = tutorial::is_product(A, B, C) && right;
  right = tutorial::is_product(D, A, C) && right;
  return right ? 0 : 1;
}
