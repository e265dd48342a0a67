// A loop like that of a self-consistent field: a matrix F is built from a density D, a new density from F, until the
// energy no longer changes. docs/cookbook.md explains the program.

#include <distal/distal.h>

#include <cmath>
#include <cstdio>

using namespace distal;

int main() {
  Param n("n", 8), p("p", 2);
  Machine M(Grid(p, p), "M");
  Format tiles({Dense, Dense}, Distribution(M, {0, 1}));
  Format blocks({Dense, Dense, Dense, Dense}, Distribution(M, {0, 1}));
  Tensor<double> V("V", {n, n, n, n}, blocks);  // the interaction
  Tensor<double> H("H", {n, n}, tiles), D("D", {n, n}, tiles), F("F", {n, n}, tiles);
  Tensor<double> I("I", {n, n}, tiles), S("S", {n, n}, tiles), P("P", {n, n}, tiles), Q("Q", {n, n}, tiles);
  Tensor<double> energy("energy", {}), mix("mix", {});
  V.fill([](const auto& at) { return 0.01 * std::cos(double(at[0] + at[1])) * std::cos(double(at[2] + at[3])); });
  H.fill([](const auto& at) { return at[0] == at[1] ? at[0] < 4 ? -0.4 : 0.4 : 0.02; });
  D.fill([](const auto& at) { return at[0] == at[1] && at[0] < 4 ? 1.0 : 0.0; });
  I.fill([](const auto& at) { return at[0] == at[1] ? 1.0 : 0.0; });
  mix.set({}, 0.5);

  IndexVar i("i"), j("j"), k("k"), l("l"), io("io"), jo("jo"), ii("ii"), ji("ji");
  auto on_tiles = [&](Schedule& schedule) { schedule.distribute({i, j}, {io, jo}, {ii, ji}, M); };

  // A tensor that no command communicates is acquired at the innermost distributed loop.
  F(i, j) = H(i, j) + 2 * V(i, j, k, l) * D(k, l) - V(i, k, j, l) * D(k, l);
  F.schedule().apply(on_tiles);
  energy() = D(i, j) * H(i, j) + D(i, j) * F(i, j);
  energy.schedule().apply(on_tiles);
  // A density from F: each step of purification, 3 S S - 2 S S S, moves the eigenvalues towards 0 and 1.
  S(i, j) = 0.5 * I(i, j) - F(i, j);
  S.schedule().apply(on_tiles);
  P(i, j) = 3 * S(i, k) * S(k, j) - 2 * S(i, k) * S(k, l) * S(l, j);
  P.schedule().apply(on_tiles);
  Q(i, j) = 3 * P(i, k) * P(k, j) - 2 * P(i, k) * P(k, l) * P(l, j);
  Q.schedule().apply(on_tiles);
  // The new density is mixed with the old one, which stands on the right.
  D(i, j) = mix * Q(i, j) + D(i, j) - mix * D(i, j);
  D.schedule().apply(on_tiles);
  Kernel step({F, energy, S, P, Q, D});

  double before = 0;
  int steps = 0;
  do {
    before = energy.at({});
    step.run();
  } while (++steps < 200 && std::abs(energy.at({}) - before) > 1e-12);
  bool converged = steps < 200;
  std::puts(converged ? "the energy stands still" : "no fixed point in 200 steps");
  return converged ? 0 : 1;
}
