// What is refused, in the words of the C++ program: an error names the object or the call.

#include <gtest/gtest.h>

#include <limits>

#include "api/errors.h"

namespace distal {
namespace {

// A(i, j) = B(i, k) * C(k, j) on a machine M.
struct Product {
  Param n{"n", 4};
  Machine m{Grid(2, 2), "M"};
  Tensor<double> A{"A", {n, n}, Format({Dense, Dense}, Distribution(m, {0, 1}))};
  Tensor<double> B{"B", {n, n}}, C{"C", {n, n}};
  IndexVar i{"i"}, j{"j"}, k{"k"}, ko{"ko"}, ki{"ki"};

  Product() { A(i, j) = B(i, k) * C(k, j); }
  std::string error() {
    return error_of([&] { A.compile().run(); });
  }
};

TEST(ApiErrors, OfACommandNameTheCall) {
  Product p;
  p.A.schedule().split(p.k, p.ko, p.ki, 0 * p.n);
  EXPECT_EQ(p.error(), "error: A.schedule().split(k, ko, ki, 0): split: the size is 0, and must be at least 1");
  p.A(p.i, p.j) = p.B(p.i, p.k) * p.C(p.k, p.j);
  p.A.schedule().reorder(std::vector<IndexVar>{});
  EXPECT_EQ(
      p.error(),
      "error: A.schedule().reorder({}): `reorder` expects at least one name here\n  help: write reorder({i, j, k})");
  p.A(p.i, p.j) = p.B(p.i, p.k) * p.C(p.k, p.j);
  p.A.schedule().split(p.i, p.ko, p.ki, 2).split(p.i, IndexVar("a"), IndexVar("b"), p.n);
  EXPECT_EQ(p.error().substr(0, 70), "error: A.schedule().split(i, a, b, n): split: there is no loop i any m");
  p.A(p.i, p.j) = p.B(p.i, p.k) * p.C(p.k, p.j);
  p.A.schedule().distribute({p.i}, {p.ko}, {p.ki}, Onto(p.m, {0}));
  EXPECT_EQ(
      p.error(),
      "error: A.schedule().distribute({i}, {ko}, {ki}, x -> x on M): the distribution has 1 role, but M = Grid(2, "
      "2) has 2 dimensions\n  help: give one role for each machine dimension");
  p.A(p.i, p.j) = p.B(p.i, p.k) * p.C(p.k, p.j);
  p.A.schedule().distribute({p.i}, {p.ko}, {p.ki}, Onto(Machine({Grid(2), Grid(2)}, "H"), {0}));
  EXPECT_EQ(p.error(),
            "error: A.schedule().distribute({i}, {ko}, {ki}, x -> x on H): H has 2 levels, and a notation speaks of "
            "one\n  help: name one of H[0] to H[1]");
}

TEST(ApiErrors, OfAStatementNameTheStatement) {
  Product p;
  p.A(p.i + 1, p.j) = p.B(p.i, p.j);
  EXPECT_EQ(p.error(),
            "error: A(i + 1, j) = B(i, j): `=` defines all of A, and would make the elements that A(i + 1, j) does not "
            "reach zero\n  help: a shifted left side takes `+=` or `-=`");
  p.A(p.i, p.j) = p.A(p.j, p.i);
  EXPECT_EQ(p.error(),
            "error: A(i, j) = A(j, i): A(j, i) is read while A(i, j) is written\n"
            "  help: of its output a statement reads only the element that it writes, here A(i, j); copy A to another "
            "tensor in a statement before, and read that");
  p.A(p.i, p.j) = p.B(p.i, p.j, p.k);
  EXPECT_EQ(p.error(),
            "error: A(i, j) = B(i, j, k): B has 2 dimensions, but 3 indices are given\n"
            "  help: give one index for each of the 2 dimensions of B");
  p.A(p.i, p.j) = std::numeric_limits<double>::infinity() * p.B(p.i, p.j);
  EXPECT_EQ(p.error().substr(0, 48), "error: A(i, j) = inf * B(i, j): inf is not a num");
}

// Copies share, so that 30 additions can make an expression that no pass could walk.
TEST(ApiErrors, OfAnExpressionThatIsTooLong) {
  Product p;
  auto doubled = [](auto sum) {
    return error_of([&] {
      for (int n = 0; n < 30; ++n) sum = sum + sum;
    });
  };
  std::string error =
      "error: this expression has more than 1000 operators\n  help: write it as several statements, the "
      "later ones with `+=`";
  EXPECT_EQ(doubled(Expr(p.B(p.i, p.j))), error);
  EXPECT_EQ(doubled(Int(p.n)), error);
}

TEST(ApiErrors, OfNumbersNameTheTensor) {
  Product p;
  p.n = -1;
  EXPECT_EQ(p.error(), "error: tensor A: dimension 0 of A is n = -1; it must be at least 0");
  Tensor<double> D("D", {3, 4}), E("E", {4, 4});
  D(p.i, p.j) = E(p.i, p.j);
  EXPECT_EQ(error_of([&] { D.compile().run(); }),
            "error: D(i, j) = E(i, j): index i has extent 3 in D dimension 0 but 4 in E dimension 0\n"
            "  help: dimensions that share an index must have the same size");
}

TEST(ApiErrors, NamesThatNoTextCanHaveAreRefused) {
  auto error_named = [](const std::string& tensor, const std::string& variable) {
    Tensor<double> A(tensor, {4}), B("B", {4});
    IndexVar i(variable);
    A(i) = B(i);
    return error_of([&] { A.compile(); });
  };
  EXPECT_EQ(error_named("my tensor", "i"),
            "error: tensor my tensor: `my tensor` cannot be the name of a tensor\n"
            "  help: names are made of letters, digits and _, and do not begin with a digit");
  EXPECT_EQ(error_named("a\nb\x1b[31m", "i"),
            "error: tensor a?b?[31m: `a?b?[31m` cannot be the name of a tensor\n"
            "  help: names are made of letters, digits and _, and do not begin with a digit");
  EXPECT_EQ(error_named("A", "2i").substr(0, 66),
            "error: A(2i) = B(2i): `2i` cannot be the name of a variable\n  help");
  EXPECT_EQ(error_named("B", "i").substr(0, 49), "error: tensor B: tensor `B` is declared twice\n  h");
}

}  // namespace
}  // namespace distal
