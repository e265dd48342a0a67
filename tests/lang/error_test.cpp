#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lang/parse.h"
#include "lang/validate.h"
#include "programs.h"

namespace distal::core {
namespace {

std::string rendered(const std::string& text, const Bindings& overrides = {}) {
  try {
    Module m = parse_module(text, "t.distal");
    validate(m, distal::core::bind(m, overrides));
  } catch (const Error& e) {
    EXPECT_GT(e.span().line, 0) << e.what();
    EXPECT_EQ(e.kind(), Error::Kind::Input);
    return e.what();
  }
  return "accepted";
}

// An error as "line:column message", or "accepted".
std::string brief(const std::string& text, const Bindings& overrides = {}) {
  try {
    Module m = parse_module(text, "t.distal");
    validate(m, distal::core::bind(m, overrides));
  } catch (const Error& e) {
    return fmt::format("{}:{} {}", e.span().line, e.span().column, e.message());
  }
  return "accepted";
}

const std::string declarations =
    "param n = 4, m = 5\n"
    "machine M = Grid(2, 2)\n"
    "tensor A(n, m)\n"
    "tensor B(n, n)\n"
    "tensor s\n";  // line 5

std::string statement(const std::string& text) { return brief(declarations + text); }

TEST(Errors, RenderedWhole) {
  EXPECT_EQ(rendered(declarations + "B(i, j) = 2 * B(j, i)\n"),
            "t.distal:6:15: error: B(j, i) is read while B(i, j) is written\n"
            "  B(i, j) = 2 * B(j, i)\n"
            "                ^~~~~~~\n"
            "  help: of its output a statement reads only the element that it writes, here B(i, j); copy B to another "
            "tensor in a statement before, and read that");
  EXPECT_EQ(rendered(declarations + "A(i + 1, j) = A(i + 1, j)\n"),
            "t.distal:6:1: error: `=` defines all of A, and would make the elements that A(i + 1, j) does not reach "
            "zero\n"
            "  A(i + 1, j) = A(i + 1, j)\n"
            "  ^~~~~~~~~~~\n"
            "  help: a shifted left side takes `+=` or `-=`");
  EXPECT_EQ(rendered(declarations + "B(n, i) = B(n, i) - A(i, j + n)\n"),
            "t.distal:6:21: error: `n` is a param in A(i, j + n), and an index of this statement\n"
            "  B(n, i) = B(n, i) - A(i, j + n)\n"
            "                      ^~~~~~~~~~~\n"
            "  help: give the index another name");
  EXPECT_EQ(rendered("param ni = 4\ntensor A(ni, nj)\n"),
            "t.distal:2:14: error: unknown param `nj`\n"
            "  tensor A(ni, nj)\n"
            "               ^~\n"
            "  help: the params declared before this are `ni`; did you mean `ni`?");
  EXPECT_EQ(rendered("machine M = Grid(2, 2)\ntensor A(4, 4) : xy -> xz on M\n"),
            "t.distal:2:25: error: `z` is not a dimension of A\n"
            "  tensor A(4, 4) : xy -> xz on M\n"
            "                          ^\n"
            "  help: the dimensions of A are `x` and `y`; a face is a number, or an expression in parentheses, and `*` "
            "stands for a copy everywhere");
  EXPECT_EQ(
      rendered("machine M = Grid(4)\ntensor A(4, 4) : xy -> xy on M\n"),
      "t.distal:2:24: error: `xy` is not a dimension of A\n"
      "  tensor A(4, 4) : xy -> xy on M\n"
      "                         ^~\n"
      "  help: the dimensions of A are `x` and `y`; `xy` names 2 of them, and there is one dimension of the machine "
      "here; a face is a number, or an expression in parentheses, and `*` stands for a copy everywhere");
  EXPECT_EQ(rendered("tensor a\na = 1\nschedule\n  spilt(k, ko, ki, 4)\n"),
            "t.distal:4:3: error: unknown schedule command `spilt`\n"
            "    spilt(k, ko, ki, 4)\n"
            "    ^~~~~\n"
            "  help: the commands are `split`, `divide`, `collapse`, `reorder`, `distribute`, `communicate`, `rotate`, "
            "`substitute`, `parallelize`, `unroll`, `vectorize` and `precompute`; did you mean `split`?");
  EXPECT_EQ(rendered("machine M = Grid(2, 3)\ntensor A(4, 4) : xy -> x3 on M\ntensor s\ns = A(i, j)\n"),
            "t.distal:2:25: error: face 3 of A is outside machine dimension 1, which has extent 3\n"
            "  tensor A(4, 4) : xy -> x3 on M\n"
            "                          ^\n"
            "  help: the faces are 0 to 2");
  EXPECT_EQ(rendered("tensor A\nmachine A = Grid(1)\n"),
            "t.distal:2:9: error: `A` cannot be a machine: it is a tensor already\n"
            "  machine A = Grid(1)\n"
            "          ^\n"
            "  help: it is declared in line 1; choose another name");
  EXPECT_EQ(rendered("tensor \x1b[31m\xff\n"),
            "t.distal:1:8: error: stray character `\\x1b`\n"
            "  tensor ?[31m?\n"
            "         ^\n"
            "  help: names are made of the letters a to z and A to Z, digits and _; `#` starts a comment");
  EXPECT_EQ(rendered("tensor A(4, 4\ntensor B(4, 4)\n"),
            "t.distal:1:9: error: this `(` is never closed\n"
            "  tensor A(4, 4\n"
            "          ^\n"
            "  help: end it with `)`");
  EXPECT_EQ(rendered(""),
            "t.distal:1:1: error: the program has no statement\n"
            "  \n"
            "  ^\n"
            "  help: a program computes something, for instance `A(i, j) = B(i, k) * C(k, j)`");
}

TEST(Errors, Shifts) {
  EXPECT_EQ(
      rendered(declarations + "B(i, j) = B(i, j) + A(i, j - 1)\n"),
      "t.distal:6:21: error: A(i, j - 1) is shifted by -1, and indices begin at 0\n"
      "  B(i, j) = B(i, j) + A(i, j - 1)\n"
      "                      ^~~~~~~~~~~\n"
      "  help: move the range of j instead: write `B(i, j + 1)`, `A(i, j + 0)`; a shifted left side takes `+=` or "
      "`-=`");
  EXPECT_EQ(rendered(declarations + "s += A(i, j - n)\n"),
            "t.distal:6:6: error: A(i, j - n) is shifted by -4, and indices begin at 0\n"
            "  s += A(i, j - n)\n"
            "       ^~~~~~~~~~~\n"
            "  help: move the range of j instead: write `A(i, j + 0)`");
  EXPECT_EQ(rendered(declarations + "s = A(i, j + 2 * n)\n"),
            "t.distal:6:5: error: A(i, j + 2*n) begins at 8 in dimension 1, where A has 5 elements\n"
            "  s = A(i, j + 2 * n)\n"
            "      ^~~~~~~~~~~~~~~\n"
            "  help: a shift is at most the extent of its dimension");
  EXPECT_EQ(rendered(declarations + "B(i, j) = A(i, j + 2)\n"),
            "t.distal:6:11: error: A(i, j + 2) goes from 2 to 5 in dimension 1, where A has 5 elements\n"
            "  B(i, j) = A(i, j + 2)\n"
            "            ^~~~~~~~~~~\n"
            "  help: j has the range of B dimension 1, of 4 elements; where every access shifts an index, for instance "
            "by `+ 0`, its range is the smallest that is left");
  EXPECT_EQ(statement("B(i, j) = A(i, j + 1)\n"), "accepted");
  EXPECT_EQ(statement("s = A(i, j + m)\n"), "accepted");
  EXPECT_EQ(statement("B(i + 1, j) += A(i + 0, j + 1)\n"), "accepted");
}

TEST(Errors, ParamsAsNumbers) {
  EXPECT_EQ(brief("type int32\nparam n = 3000000000\ntensor a\na = 2 * n\n"),
            "4:9 the param n is 3000000000, which is too large for the element type int32");
  EXPECT_EQ(brief("param n = 4\ntensor a\na = n(i)\n"), "3:5 `n` is a param, and not a tensor");
  EXPECT_EQ(brief("param n = 4\ntensor a\na = m\n"), "3:5 unknown tensor `m`");
}

TEST(Errors, Declarations) {
  EXPECT_EQ(brief("param n = 1, n = 2\n"), "1:14 param `n` is declared twice");
  EXPECT_EQ(brief("machine M = Grid(1)\nmachine M = Grid(2)\n"), "2:9 machine `M` is declared twice");
  EXPECT_EQ(brief("tensor A\ntensor A(3)\n"), "2:8 tensor `A` is declared twice");
  EXPECT_EQ(brief("machine A = Grid(1)\ntensor A(3)\n"), "2:8 `A` cannot be a tensor: it is a machine already");
  EXPECT_EQ(brief("tensor A(3)\nmachine A = Grid(1)\n"), "2:9 `A` cannot be a machine: it is a tensor already");
  EXPECT_EQ(brief("param a = b, b = 1\n"), "1:11 unknown param `b`");
  EXPECT_EQ(brief("param a = a\n"), "1:11 unknown param `a`");
  EXPECT_EQ(brief("param a 1\n"), "1:9 expected `=` and a value after the param `a`, found `1`");
  EXPECT_EQ(brief("param a = 1.5\n"), "1:11 `1.5` is not an integer");
  EXPECT_EQ(brief("param a = 9223372036854775808\n"), "1:11 9223372036854775808 does not fit in 64 bits");
  EXPECT_EQ(brief("param a = -9223372036854775809\n"), "1:12 9223372036854775809 does not fit in 64 bits");
  EXPECT_EQ(brief("param a = 1 + 9223372036854775807\n"), "1:11 a size does not fit in 64 bits");
  EXPECT_EQ(brief("param a = 4/(2 - 2)\n"), "1:11 division by 0; a divisor must be at least 1");
  EXPECT_EQ(brief("param a = ceildiv(4)\n"), "1:11 `ceildiv` takes 2 arguments, 1 given");
  EXPECT_EQ(brief("param a = sqrt(4)\n"), "1:11 unknown function `sqrt`");
  EXPECT_EQ(brief("param a = (4\n"), "1:11 this `(` is never closed");
  EXPECT_EQ(brief("param a = \n"), "1:10 expected a number or a param, found the end of the file");
  EXPECT_EQ(brief("machine M = 4\n"), "1:14 expected `processors` after their number, found the end of the file");
  EXPECT_EQ(brief("machine M = Grid()\n"), "1:13 a grid needs at least one dimension");
  EXPECT_EQ(brief("machine M = Grid(2) of 4\n"), "1:24 expected a grid, found `4`");
  EXPECT_EQ(brief("machine M = Grid(2) tpu\n"), "1:21 expected `of`, `cpu`, `gpu` or the end of the line, found `tpu`");
  EXPECT_EQ(brief("machine M = Grid(2, 0)\n"), "1:21 extent 1 of the grid is 0; it must be at least 1");
  EXPECT_EQ(brief("tensor A(3, -1)\n"), "1:13 dimension 1 of A is -1; it must be at least 0");
  EXPECT_EQ(brief("tensor A(3), B(3)\n"), "1:12 expected one tensor per line, found `,`");
  EXPECT_EQ(brief("tensor A(3) : x -> x\n"), "1:15 A has a distribution but no machine");
  EXPECT_EQ(brief("machine M = Grid(1)\nmachine N = Grid(1)\ntensor A(3) : x -> x\n"),
            "3:15 A has a distribution but no machine");
  EXPECT_EQ(brief("machine M = Grid(1)\ntensor A(3) : x -> x on N\n"), "2:25 unknown machine `N`");
  EXPECT_EQ(brief("tensor A(3) on N\n"), "1:16 unknown machine `N`");
  EXPECT_EQ(brief("tensor A(3) in tape\n"), "1:16 unknown memory `tape`");
  EXPECT_EQ(brief("tensor A(3) in gpu in gpu\n"), "1:20 `in` is given twice for A");
  EXPECT_EQ(brief("tensor A(3) cyclic(x)\n"), "1:13 `cyclic` needs a distribution, and A has none");
  for (const char* order : {"order(0)", "order(0, 0)", "order(1, 2)", "order(0, 1, 2)", "order()"}) {
    EXPECT_EQ(brief(fmt::format("tensor A(3, 3) {}\n", order)),
              "1:16 the order of A is not a permutation of its 2 dimensions");
  }
  EXPECT_EQ(brief("tensor A(3) order(-1)\n"), "1:19 expected the number of a dimension, found `-`");
  EXPECT_EQ(brief("type half\n"), "1:6 unknown element type `half`");
  EXPECT_EQ(brief("type complex<int>\n"), "1:6 unknown element type `complex<int>`");
  EXPECT_EQ(brief("type float\ntype float\n"), "2:1 the element type is given twice");
  EXPECT_EQ(brief("tensr A(3)\n"), "1:1 expected a declaration, a statement or a schedule, found `tensr`");
  EXPECT_NE(rendered("tensr A(3)\n").find("did you mean `tensor`?"), std::string::npos);
  EXPECT_EQ(brief("tensor A(3)\n)\n"), "2:1 expected a declaration, a statement or a schedule, found `)`");
  EXPECT_EQ(brief("tensor A(3) @ M\n"), "1:13 stray character `@`");
  EXPECT_EQ(brief("tensor A(3) \xE2\x86\x92 M\n"), "1:13 stray character `\xE2\x86\x92`");
  EXPECT_EQ(brief("# \xE2\x86\x92\ntensor \x01\n"), "2:8 stray character `\\x01`");
  EXPECT_EQ(brief("tensor A(3)\n"), "2:1 the program has no statement");
}

TEST(Errors, Statements) {
  EXPECT_EQ(statement("A(i, j) = X(i, j)\n"), "6:11 unknown tensor `X`");
  EXPECT_EQ(statement("X(i, j) = A(i, j)\n"), "6:1 unknown tensor `X`");
  EXPECT_EQ(statement("A(i, j) = B(i)\n"), "6:11 B has 2 dimensions, but 1 index is given");
  EXPECT_EQ(statement("A(i, j, k) = B(i, j)\n"), "6:1 A has 2 dimensions, but 3 indices are given");
  EXPECT_EQ(statement("s(i) = B(i, i)\n"), "6:1 s has 0 dimensions, but 1 index is given");
  EXPECT_EQ(statement("s = B\n"), "6:5 B has 2 dimensions, but 0 indices are given");
  EXPECT_EQ(statement("A(i, j) = 1\n"), "accepted") << "a broadcast";
  EXPECT_EQ(statement("s += s\n"), "accepted");
  EXPECT_EQ(statement("A(i, j) = B(i, k) * \n"),
            "6:20 expected a tensor, a param or a number, found the end of the file");
  EXPECT_EQ(statement("s = B(i, j) B(i, j)\n"), "6:13 an operator is missing between `B(...)` and `B(...)`");
  EXPECT_EQ(statement("s = 2 B(i, j)\n"), "6:7 an operator is missing between `2` and `B(...)`");
  EXPECT_EQ(statement("s = B(i, j) / 2\n"), "6:13 index notation has no division");
  EXPECT_EQ(statement("s = B(i, +)\n"), "6:10 expected an index variable, found `+`");
  EXPECT_EQ(statement("s = B(i, 0)\n"), "6:10 `0` is a number, and an access has an index for each dimension");
  EXPECT_EQ(statement("s = B(i+, j)\n"), "6:9 expected a number or a param, found `,`");
  EXPECT_EQ(statement("s = B(m + i, j)\n"), "6:7 `m` is a param, and an index begins with its variable");
  EXPECT_EQ(statement("s = B(i + 1*x, j)\n"), "6:13 unknown param `x`");
  EXPECT_EQ(statement("s = (B(i, j)\n"), "6:5 this `(` is never closed");
  EXPECT_EQ(statement("s = B(i, j\n"), "6:6 this `(` is never closed");
  EXPECT_EQ(statement("A(i, j = B(i, j)\n"), "6:8 expected `,` or `)`, found `=`");
  EXPECT_EQ(statement("s -= B(i, j)\n"), "accepted");
  EXPECT_EQ(statement("s *= B(i, j)\n"), "6:3 there is no `*=`");
  EXPECT_EQ(statement("A(i, j)\n"), "6:8 expected `=`, `+=` or `-=` after `A(i, j)`, found the end of the file");
  EXPECT_EQ(statement("s = 18446744073709551616\n"), "6:5 18446744073709551616 does not fit in 64 bits");
  EXPECT_EQ(statement("s = 1e999\n"), "6:5 1e999 is outside the range of a double");
  EXPECT_EQ(statement("schedule\n"), "6:1 a schedule before any statement");
  EXPECT_EQ(statement("split(i, io, ii, 2)\n"), "6:1 the command `split` stands outside a schedule");
  EXPECT_EQ(statement("s = 1\nschedule\nschedule\n"), "8:1 `s = 1` has a schedule already");
  EXPECT_EQ(statement("s = 1\nschedule\nA(i, j) - B(i, j)\n"),
            "8:9 expected `=`, `+=` or `-=` after `A(i, j)`, found `-`");
}

TEST(Errors, NumbersOfProcessors) {
  std::string rest = "\ntensor A(4) on M\ntensor B(4)\nA(i) = B(i)\n";
  EXPECT_EQ(brief("machine M = 0 processors" + rest), "1:13 the number of processors is 0; it must be at least 1");
  EXPECT_EQ(brief("param p = 0\nmachine M = p - 1 processors" + rest),
            "2:13 the number of processors is p - 1 = -1; it must be at least 1");
  EXPECT_EQ(brief("machine M = 64" + rest), "2:1 expected `processors` after their number, found `tensor`");
  EXPECT_EQ(brief("machine M = 64 processors as M" + rest), "1:30 expected a grid, found `M`");
  EXPECT_EQ(brief("machine M = 64 processors as (Grid(8)" + rest), "1:30 this `(` is never closed");
  EXPECT_EQ(brief("machine M = 64 processors as Grid(7, 10)" + rest),
            "1:9 M = 64 processors as Grid(7, 10) has 64 processors, but its grid needs 70");
  EXPECT_EQ(brief("machine M = 20000000 processors" + rest),
            "1:9 the machine M = 20000000 processors has 20000000 processors");
  EXPECT_EQ(brief("tensor A(4) on 3 * q processors\ntensor B(4)\nA(i) = B(i)\n"), "1:20 unknown param `q`");
}

TEST(Errors, TwoMachinesInOneStatement) {
  std::string two = "param g = 2\nmachine M = Grid(2, 2)\nmachine N = Grid(5)\ntensor A(4) on M\ntensor B(4) on N\n";
  EXPECT_EQ(brief(two + "A(i) = 2 * B(i)\n"), "6:12 A is on M = Grid(2, 2), but B is on N = Grid(5)");
  EXPECT_EQ(brief(two + "A(i) += B(i)\n"), "6:9 A is on M = Grid(2, 2), but B is on N = Grid(5)");
  std::string schedule = "schedule\n  distribute(i, io, ii, N)\n";
  EXPECT_EQ(
      brief("machine M = Grid(4)\nmachine N = Grid(5)\ntensor A(4) on M\ntensor B(4)\nA(i) = 2 * B(i)\n" + schedule),
      "7:25 A is on M = Grid(4), but the schedule is on N = Grid(5)");
  EXPECT_EQ(brief("tensor A(4) on Grid(2)\ntensor B(4) on Grid(2) gpu\nA(i) = -B(i)\n"),
            "3:9 A is on Grid(2), but B is on Grid(2) gpu");
  std::string same = "param g = 2\nmachine M = Grid(2)\ntensor A(4) on M\ntensor B(4) on Grid(g)\nA(i) = 2 * B(i)\n";
  EXPECT_EQ(brief(same), "accepted");
  EXPECT_EQ(brief(same, {{"g", 3}}), "5:12 A is on M = Grid(2), but B is on Grid(3)");
  EXPECT_EQ(brief(two + "A(i) = B(i)\n"), "accepted") << "a copy goes from one machine to another";
}

TEST(Errors, Commands) {
  auto command = [](const std::string& text) {
    return brief("param n = 4\ntensor a\na = 1\nschedule\n" + text + "\n");
  };
  EXPECT_EQ(command("split(k, ko, ki)"), "5:1 `split` takes 4 arguments, 3 given");
  EXPECT_EQ(command("split(k, ko, ki, 2, 3)"), "5:1 `split` takes 4 arguments, 5 given");
  EXPECT_EQ(command("split(k, 2)"), "5:10 expected a name, found `2`");
  EXPECT_EQ(command("split(k, ko, ki, m)"), "5:18 unknown param `m`");
  EXPECT_EQ(command("divide()"), "5:1 `divide` takes 4 arguments, 0 given");
  EXPECT_EQ(command("collapse(i, j)"), "5:1 `collapse` takes 3 arguments, 2 given");
  EXPECT_EQ(command("collapse({i, j}, k, l)"), "5:10 `collapse` expects one name here");
  EXPECT_EQ(command("reorder()"), "5:1 `reorder` takes 1 argument, 0 given");
  EXPECT_EQ(command("reorder({})"), "5:9 `reorder` expects at least one name here");
  EXPECT_EQ(command("distribute({i}, {io}, {ii})"), "5:1 `distribute` takes 1, 2 or 4 arguments, 3 given");
  EXPECT_EQ(command("distribute(io, {jo})"),
            "5:16 `distribute` expects a machine, a level of it, a tensor or a grid here");
  EXPECT_EQ(command("distribute(M[1], M)"), "5:12 `distribute` expects a name or a list of names here");
  EXPECT_EQ(command("distribute(io, M[x])"), "5:18 expected the number of a level, found `x`");
  EXPECT_EQ(command("distribute(io, M[-1])"), "5:18 expected the number of a level, found `-`");
  EXPECT_EQ(command("distribute(io, M[4294967296])"), "5:18 there is no level 4294967296");
  EXPECT_EQ(command("distribute(io, M[1)"), "5:19 expected `,` or `]`, found `)`");
  EXPECT_EQ(command("distribute(io, Grid(0))"), "5:21 extent 0 of the grid is 0; it must be at least 1");
  EXPECT_EQ(command("communicate(A)"), "5:1 `communicate` takes 2 arguments, 1 given");
  EXPECT_EQ(command("communicate({A, B)"), "5:18 expected `,` or `}`, found `)`");
  EXPECT_EQ(command("communicate({A, B"), "5:13 this `{` is never closed");
  EXPECT_EQ(command("rotate(t, {i, j})"), "5:1 `rotate` takes 3 arguments, 2 given");
  EXPECT_EQ(command("substitute({i}, {gemm, b})"), "5:17 `substitute` expects one name here");
  EXPECT_EQ(command("parallelize({i, j})"), "5:13 `parallelize` expects one name here");
  EXPECT_EQ(command("parallelize(i, somehow)"), "5:16 `parallelize` expects `reduction` or `atomics` here");
  EXPECT_EQ(command("unroll(i)"), "5:1 `unroll` takes 2 arguments, 1 given");
  EXPECT_EQ(command("unroll(2, i)"), "5:8 expected a name, found `2`");
  EXPECT_EQ(command("vectorize(i, j)"), "5:1 `vectorize` takes 1 argument, 2 given");
  EXPECT_EQ(command("precompute(A(i, j), {i}, {iw})"), "5:1 `precompute` takes 4 arguments, 3 given");
  EXPECT_EQ(command("precompute({i}, {i}, {iw}, W)"), "5:12 expected a tensor, a param or a number, found `{`");
  EXPECT_EQ(command("fuse(i)"), "5:1 unknown schedule command `fuse`");
  EXPECT_EQ(command("distribute({i}, {io}, {ii}, x -> x)"),
            "5:35 expected `on` and a machine after the distribution, found `)`");
  EXPECT_EQ(command("distribute({i}, {io}, {ii}, x -> x on Q)"), "5:39 unknown machine `Q`");
  EXPECT_EQ(command("distribute({i}, {io}, {ii}, x -> x on {Q})"),
            "5:39 `distribute` expects a machine, a level of it or a grid here");
  EXPECT_EQ(command("distribute({i}, {io}, {ii}, x -> y on Grid(2))"),
            "5:34 `y` is not a dimension of the iteration space");
  EXPECT_EQ(command(".\nsplit"), "6:6 expected `(`, found the end of the file");
  EXPECT_EQ(command("split k, ko"), "5:1 the arguments of the command `split` stand in parentheses");
}

TEST(Errors, Validation) {
  std::string gemm =
      "param n = 4, m = 5, g = 2, f = 1, b = 2\nmachine M = Grid(g, 2)\n"
      "tensor A(n, n) : x, y -> (f), x cyclic(x = b) on M\ntensor B(m, 2*n - 1)\ntensor s\n";
  EXPECT_EQ(brief(gemm + "s = A(i, j)\n"), "accepted");
  EXPECT_EQ(brief(gemm + "A(j, i) = B(j, i)\n"), "6:13 index j has extent 4 in A dimension 0 but 5 in B dimension 0");
  EXPECT_EQ(brief(gemm + "s = B(i, i)\n"), "6:10 index i has extent 5 in B dimension 0 but 7 in B dimension 1");
  EXPECT_EQ(brief(gemm + "s = A(i, j)\n", {{"n", -1}}), "3:10 dimension 0 of A is n = -1; it must be at least 0");
  EXPECT_EQ(brief(gemm + "s = A(i, j)\n", {{"g", -2}}), "2:18 extent 0 of the grid is g = -2; it must be at least 1");
  EXPECT_EQ(brief(gemm + "s = A(i, j)\n", {{"b", 0}}), "3:44 the cyclic block of `x` is b = 0; it must be at least 1");
  EXPECT_EQ(brief(gemm + "s = A(i, j)\n", {{"f", 2}}),
            "3:26 face f = 2 of A is outside machine dimension 0, which has extent 2");
  EXPECT_EQ(brief(gemm + "s = A(i, j)\n", {{"f", -1}}),
            "3:26 face f = -1 of A is outside machine dimension 0, which has extent 2");
  EXPECT_EQ(brief("param n = 1\ntensor A(2 * n - 1)\ntensor s\ns = A(i)\n", {{"n", int64_t{1} << 62}}),
            "2:10 a size does not fit in 64 bits");
  EXPECT_EQ(brief(gemm + "s = A(i, j)\n", {{"n", int64_t{1} << 61}}),
            "3:8 A has 2305843009213693952 x 2305843009213693952 elements of 8 bytes: too many");
  EXPECT_EQ(brief(gemm + "s = A(i, j)\n", {{"g", int64_t{1} << 40}}),
            "2:9 the machine M = Grid(g, 2) has 1099511627776 x 2 processors");
  EXPECT_EQ(brief("tensor s\ntensor T(1099511627776)\ns = T(i)*T(j)*T(k) + T(l)\n"),
            "3:1 T(i) * T(j) * T(k) has 1099511627776 x 1099511627776 x 1099511627776 points: too many");
  EXPECT_EQ(brief("tensor s\ntensor T(1099511627776)\ns = T(i)*T(j) + T(k)*T(l) + T(m)\n"), "accepted")
      << "each term counts by itself";
  EXPECT_EQ(brief("param g = 2\ntensor s\ns = 1\nschedule\ndistribute(i, Grid(g))\n", {{"g", 0}}),
            "5:20 extent 0 of the grid is g = 0; it must be at least 1");
}

TEST(Errors, Literals) {
  auto literal = [](const std::string& type, const std::string& text) {
    return brief("type " + type + "\ntensor s\ns = " + text + "\n");
  };
  EXPECT_EQ(literal("int32", "2*(1 - 2.0)"), "3:12 the literal 2.0 is not an integer, but the element type is int32");
  EXPECT_EQ(literal("int64", "1e3"), "3:5 the literal 1e3 is not an integer, but the element type is int64");
  EXPECT_EQ(literal("int32", "-2147483648"), "3:6 the literal 2147483648 is too large for the element type int32");
  EXPECT_EQ(literal("int64", "9007199254740991 + 1"), "accepted");
  EXPECT_EQ(literal("int64", "9007199254740993"),
            "3:5 the literal 9007199254740993 is too large for the element type int64");
  EXPECT_EQ(literal("float", "1e39"), "3:5 the literal 1e39 is too large for the element type float");
  EXPECT_EQ(literal("complex<double>", "1e39 - 2.5"), "accepted");
}

TEST(Errors, ManyElementsAreLegal) {
  EXPECT_EQ(brief("param n = 65536\ntensor A(n, n)\ntensor B(n, n)\nA(i, j) = B(j, i)\n"), "accepted");
  EXPECT_EQ(brief("type float\ntensor A(1152921504606846976)\ntensor B(1152921504606846976)\nA(i) = B(i)\n"),
            "accepted");
}

std::string repeated(const std::string& text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

TEST(Errors, DeepAndLongExpressionsAreRefused) {
  int n = 20000;
  std::string deep = "this expression is nested more than 200 levels deep";
  std::string wide = "this expression has more than 1000 operators";
  auto message = [](const std::string& text) {
    std::string whole = brief(text);
    return whole.substr(whole.find(' ') + 1);
  };
  EXPECT_EQ(message("tensor s\ns = " + repeated("(", n) + "1" + repeated(")", n)), deep);
  EXPECT_EQ(message("tensor s\ns = " + repeated("-", n) + "1"), deep);
  EXPECT_EQ(message("tensor s\ns = 1" + repeated("*-(1", n)), deep);
  EXPECT_EQ(message("tensor s\ns = 1" + repeated(" + 1", n)), wide);
  EXPECT_EQ(message("tensor s\ns = 1" + repeated(" * 1", n)), wide);
  EXPECT_EQ(message("param a = " + repeated("(", n)), deep);
  EXPECT_EQ(message("param a = " + repeated("-", n)), deep);
  EXPECT_EQ(message("param a = " + repeated("min(1, ", n)), deep);
  EXPECT_EQ(message("param b = 1, a = 1" + repeated(" + b", n)), wide);
  EXPECT_EQ(message("tensor s\ns = 1\nschedule\n" + repeated("reorder({", n)), "expected `,` or `}`, found `(`");
  EXPECT_EQ(brief("param b = 1, a = b" + repeated(" + b", 1000) + "\ntensor s\ns = 1" + repeated(" + 1", 1000)),
            "accepted");
  EXPECT_EQ(brief("tensor s\ns = " + repeated("(", 90) + "1" + repeated(")", 90)), "accepted");
}

}  // namespace
}  // namespace distal::core
