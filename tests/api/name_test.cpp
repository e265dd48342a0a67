// Handles have an identity; their names belong to programs.

#include <gtest/gtest.h>

#include "api/errors.h"
#include "lang/parse.h"

namespace distal {
namespace {

TEST(ApiNames, TwoVariablesOfOneNameInOneStatementAreRefused) {
  Tensor<double> A("A", {4}), B("B", {4, 4});
  IndexVar i("i"), other("i");
  A(i) = B(i, other);
  EXPECT_EQ(error_of([&] { A.compile(); }),
            "error: A(i) = B(i, i): two variables are called `i`\n"
            "  help: a copy of an IndexVar is the same variable; give another one a name of its own");
  A(i) = B(i, i);
  IndexVar io("io"), copy = i;
  A.schedule().split(copy, io, IndexVar("io"), 2);
  EXPECT_EQ(error_of([&] { A.compile(); }).substr(0, 54), "error: A(i) = B(i, i): two variables are called `io`\n ");
  Tensor<double> C("C", {4}), D("D", {4});
  C(i) = D(i);
  D(other) = A(other);
  EXPECT_EQ(error_of([&] { Kernel kernel({D, C}); }), "no error") << "in different statements they are fine";
}

TEST(ApiNames, TwoParamsOfOneNameAreRefused) {
  Param n("n", 4), m("n", 5);
  Tensor<double> A("A", {n, m}), B("B", {n, m});
  IndexVar i("i"), j("j");
  A(i, j) = B(i, j);
  std::string error = "error: param n: param `n` is declared twice\n  help: choose another name";
  EXPECT_EQ(error_of([&] { A.compile(); }), error);
  EXPECT_EQ(error_of([&] { A.pieces(); }), error);
  EXPECT_EQ((n + m).value(), 9);
  EXPECT_EQ((n + 2 * Int(Param(7))).to_string(), "n + 2*param");
}

TEST(ApiNames, TwoMachinesOfOneNameAreRefused) {
  Tensor<double> A("A", {4}, Format({Dense}, Distribution(Machine(Grid(2), "M"), {0})));
  Tensor<double> B("B", {4}, Format({Dense}, Distribution(Machine(Grid(4), "M"), {0})));
  IndexVar i("i");
  A(i) = B(i);
  EXPECT_EQ(error_of([&] { A.compile(); }),
            "error: machine M: machine `M` is declared twice\n  help: choose another name");
}

// A program in which most handles have no names. The others have names that would be made up for these.
std::string text_of_unnamed() {
  Param n(4), p1("p1", 2);
  Machine m{Grid(p1)}, same{Grid(p1)};
  Tensor<double> A({n}, Format({Dense}, Distribution(m, {0}))), B({n}, Format({Dense}, Distribution(same, {0}))),
      T2("T2", {n, n});
  IndexVar i, j, i2("i2"), ii;
  A(i) = B(j) * T2(i, j);
  A.schedule().distribute({i}, {i2}, {ii}, same).communicate({A, B}, i2);
  EXPECT_EQ(A.name() + n.name() + i.name() + m.name(), "");
  std::string text = A.compile().text();
  EXPECT_EQ(core::to_string(core::parse_module(text, "text")), text);
  return text;
}

TEST(ApiNames, AreMadeUpInOneWay) {
  std::string text = text_of_unnamed();
  EXPECT_EQ(text,
            "param p2 = 4, p1 = 2\n"
            "machine M1 = Grid(p1)\n"
            "\n"
            "tensor T1(p2) : x -> x on M1\n"
            "tensor T3(p2) : x -> x on M1\n"
            "tensor T2(p2, p2)\n"
            "\n"
            "T1(i1) = T3(i3) * T2(i1, i3)\n"
            "\n"
            "schedule\n"
            "  distribute({i1}, {i2}, {i4}, M1)\n"
            "  communicate({T1, T3}, i2)\n");
  IndexVar others[5];
  Tensor<double> more[3];
  EXPECT_EQ(text_of_unnamed(), text) << "whatever else the process made";
}

// The loops that the compiler makes have names of their own.
TEST(ApiNames, OfLoopsThatTheCompilerMakesDoNotMeetTheUsers) {
  Machine m(Grid(2), "M");
  Format dealt({Dense}, Distribution(m, {0}).cyclic(0, 2));
  Tensor<double> A("A", {8}, dealt), B("B", {8}, dealt);
  IndexVar i("i"), io("io"), ii("ii"), round("io_round"), inside("i_inside"), block("i_block");
  A(i) = B(i);
  A.schedule().distribute({i}, {io}, {ii}, A).split(ii, round, inside, 2).communicate({A, B}, io);
  B.fill([](const std::vector<int64_t>& at) { return static_cast<double>(at[0]); });
  A.compile().run();
  for (int64_t x = 0; x < 8; ++x) EXPECT_EQ(A.at({x}), static_cast<double>(x));
}

}  // namespace
}  // namespace distal
