#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lang/parse.h"

namespace distal::core {
namespace {

const std::string declarations =
    "param n = 4\n"
    "machine M = Grid(2)\n"
    "tensor A(n, n)\n"
    "tensor B(n, n)\n"
    "tensor x(n)\n"
    "tensor s\n";

// An error as "words under the caret: message; help", or "accepted".
std::string refused(const std::string& text) {
  try {
    parse_module(text, "t.distal");
  } catch (const Error& e) {
    std::string line = e.what();
    size_t caret = line.find('^', line.find('\n', line.find('\n') + 1));  // on the third line
    EXPECT_NE(caret, std::string::npos) << line;
    size_t end = line.find_first_not_of("^~", caret);
    size_t caret_line = line.rfind('\n', caret), source_line = line.rfind('\n', caret_line - 1);
    std::string under =
        line.substr(source_line + (caret - caret_line), (end == std::string::npos ? line.size() : end) - caret);
    return fmt::format("{}: {}; {}", under.substr(0, under.find('\n')), e.message(), e.help());
  }
  return "accepted";
}

std::string in_program(const std::string& text) { return refused(declarations + text + "\n"); }

TEST(Foreign, WaysOfOtherLanguages) {
  EXPECT_EQ(in_program("A[i][j] = B(i, j)"), "A[i][j]: the indices of `A` stand in square brackets; write `A(i, j)`");
  EXPECT_EQ(in_program("A(i, j) *= B(i, j)"),
            "*=: there is no `*=`; the output may stand on the right: write `A(i, j) = A(i, j) * ...`");
  EXPECT_EQ(in_program("A(i, j) := B(i, j)"), ":=: a statement assigns with `=`; leave out the colon");
  EXPECT_EQ(in_program("ik,kj->ij"),
            "ik,kj->: this is a subscript string of einsum; a statement names its tensors: `ik,kj->ij` is `A(i, j) = "
            "B(i, k) * C(k, j)`");
  EXPECT_EQ(in_program("A(i, j) = B(i, j) x(i) = B(i, j)"),
            "x: an operator is missing between `B(...)` and `x(...)`; each statement stands on a line of its own: "
            "begin one at `x(...)`");
  EXPECT_EQ(in_program("A(i, j) = 1.5d0 * B(i, j)"),
            "1.5d0: `1.5d0` is not a number; an exponent begins with `e`: write 1.5e0");
  EXPECT_EQ(in_program("A(i, j) = B(i, j)\nA.schedule()"),
            ".schedule: in a file, a schedule stands below its statement; write `schedule` on a line of its own, and "
            "each command on a line below it");
}

TEST(Foreign, SignsOfOtherLanguages) {
  std::string one = "a statement assigns with `=`; ";
  EXPECT_EQ(in_program("A(i, j) <- B(i, j)"), "<-: " + one + "write `=` instead of `<-`");
  EXPECT_EQ(in_program("A(i, j) => B(i, j)"), "=>: " + one + "write `=` instead of `=>`");
  EXPECT_EQ(in_program("A(i, j) =+ B(i, j)"), "=+: there is no `=+`; `+=` adds to the output");
  EXPECT_EQ(in_program("A(i, j) = + B(i, j)"), "+: a term has no sign `+`; leave out the `+`");
  EXPECT_EQ(in_program("A(i, j) = B(i, j) ++ B(j, i)"), "+: a term has no sign `+`; leave out the `+`");
  EXPECT_EQ(in_program("A(i, j) = B(i, k) . B(k, j)"),
            ".: index notation has no operator `.`; a product is written with `*`");
  EXPECT_EQ(in_program("A(i, j) = x(i) = B(i, j)"),
            "=: a statement has one `=`; write each assignment on a line of its own");
  EXPECT_EQ(in_program("A(i, j) = (i == j) * B(i, j)"),
            "==: index notation has no comparisons; multiply by a tensor that is 1 where the condition holds and 0 "
            "elsewhere");
  EXPECT_EQ(in_program("A(i, j) = B*(i, j)"), ",: expected an operator or `)`, found `,`; ");
  EXPECT_EQ(in_program("A(i, j) = (B(i, j) + 1"), "(: this `(` is never closed; end it with `)`");
  EXPECT_EQ(in_program("A(i, j) = B(i, j) and B(j, i)").substr(0, 40), "and: a statement has no condition `and`;");
  EXPECT_EQ(in_program("A(i, j) = B(i, k) * B(k, j) for k in n"),
            "for: a statement has no loop `for`; an index that stands on the right side only is summed over all its "
            "values");
}

TEST(Foreign, NamesOfOtherKinds) {
  EXPECT_EQ(
      in_program("n = 4"),
      "n: `n` is a param, and not a tensor; its value stands in its declaration, `param n = ...`, or after --set");
  EXPECT_EQ(in_program("A(i, j) = n(i, j)"),
            "n: `n` is a param, and not a tensor; a param is written without indices, `n`");
  EXPECT_EQ(in_program("A(i, j) = M * B(i, j)"),
            "M: `M` is a machine, and not a tensor; a statement computes with tensors, params and numbers");
  EXPECT_EQ(in_program("A(i, j) = i * B(i, j)"),
            "i: `i` is an index, and its value is no number of the statement; multiply by a tensor that holds 0, 1, 2, "
            "..., as in `x(i)`");
  EXPECT_EQ(in_program("A_ij = B_ij"),
            "A_ij: unknown tensor `A_ij`; the tensors declared before this are `A`, `B`, `x` and `s`; indices stand in "
            "parentheses: write `A(i, j)`");
  EXPECT_EQ(
      in_program("A(ij) = B(ij)"),
      "A(ij): A has 2 dimensions, but 1 index is given; give one index for each of the 2 dimensions of A; `ij` is "
      "one name: write `A(i, j)`");
  EXPECT_EQ(in_program("a(i, j) = B(i, j)"),
            "a: unknown tensor `a`; the tensors declared before this are `A`, `B`, `x` and `s`; did you mean `A`? Case "
            "counts");
  EXPECT_EQ(in_program("N = Grid(2, 2)"),
            "Grid: a grid stands in the declaration of a machine; write `machine M = Grid(...)`");
}

TEST(Foreign, Nameless) {
  EXPECT_EQ(in_program("param 2n = 4"),
            "param: `param` needs a name; write for instance `param n = 1024`; a name does not begin with a digit");
  EXPECT_EQ(in_program("machine"), "machine: `machine` needs a name; write for instance `machine M = Grid(2, 2)`");
  EXPECT_EQ(in_program("tensor (4)"), "tensor: `tensor` needs a name; write for instance `tensor A(4, 4)`");
  EXPECT_EQ(in_program("matrix C(4, 4)"), "matrix: no line begins with `matrix`; write `tensor C...`");
  EXPECT_EQ(in_program("parameter m = 4"), "parameter: no line begins with `parameter`; write `param m...`");
  EXPECT_EQ(in_program("grid N = Grid(4)"), "grid: no line begins with `grid`; write `machine N...`");
}

TEST(Foreign, Machines) {
  EXPECT_EQ(in_program("machine N(2, 2)"),
            "(: expected `=` and a grid after the machine `N`, found `(`; write for instance `machine N = Grid(2, 2)`");
  std::string form = "a grid is written `Grid(2, 2)`, with a capital letter and parentheses";
  EXPECT_EQ(in_program("machine N = Grid[2, 2]"), "Grid: expected a grid, found `Grid`; " + form);
  EXPECT_EQ(in_program("machine N = grid(2, 2)"), "grid: expected a grid, found `grid`; " + form);
  EXPECT_EQ(in_program("machine N = Grid(2) GPU"),
            "GPU: expected `of`, `cpu`, `gpu` or the end of the line, found `GPU`; a machine is for instance `Grid(2, "
            "2)`, `Grid(2) of Grid(4)` or `Grid(8) gpu`");
  EXPECT_EQ(in_program("machine N = 4 gpus"),
            "gpus: expected `processors` after their number, found `gpus`; a machine is for instance `Grid(2, 2)`, `64 "
            "processors` or `64 processors gpu`");
}

TEST(Foreign, Distributions) {
  std::string list = "; a list of names stands without brackets, as in `x, y -> x, y`";
  EXPECT_EQ(in_program("tensor D(4, 4) : (x, y) -> (x, y) on M"),
            "(: expected a dimension in the distribution, found `(`" + list);
  EXPECT_EQ(in_program("tensor D(4, 4) : [x, y] -> x on M"),
            "[: expected a dimension in the distribution, found `[`" + list);
  EXPECT_EQ(in_program("tensor D(4) : x - > x on M"), "- >: an arrow has no space in it; write `->`");
  EXPECT_EQ(in_program("tensor D(4) : on M"),
            "M: expected `->` in the distribution, found `M`; without a distribution there is no colon, as in `tensor "
            "A(4, 4) on M`");
  EXPECT_EQ(
      in_program("tensor D(4) : x ->\nD(i) = x(i)"),
      ": expected a dimension in the distribution, found the end of the line; both sides of the arrow stand on the "
      "line of the tensor");
}

TEST(Foreign, Declarations) {
  EXPECT_EQ(refused("param n\nparam m = 2\n").substr(0, 70),
            ": expected `=` and a value after the param `n`, found the end of the l");
  EXPECT_EQ(
      refused("tensor A(4) : float64\nA(i) = 1\n"),
      "float64: `float64` is an element type, and a tensor has none of its own; write `type float64` on a line of "
      "its own: it holds for all tensors");
  EXPECT_EQ(refused("tensor A(4) : xy\nA(i) = 1\n").substr(0, 62),
            ": expected `->` in the distribution, found the end of the line");
  EXPECT_EQ(refused("tensor A(4) dense\n"),
            "dense: expected `on`, `order`, `in`, `cyclic` or the end of the line, found `dense`; tensors are dense; a "
            "declaration is for instance `tensor A(4, 4) : xy -> xy on M`");
  EXPECT_EQ(refused("machine M = (2, 2)\n"),
            "(: expected a grid, found `(`; the extents of a grid stand behind `Grid`, as in `Grid(2, 2)`");
  EXPECT_EQ(refused("machine M = Grid(2x2)\n"),
            "x2: the extents of a grid are written with commas, not with `x`; write for instance `Grid(2, 2)`");
}

TEST(Foreign, LinesOfOtherLanguages) {
  EXPECT_EQ(
      in_program("for i in range(n):"),
      "for: there are no loops `for`; a statement computes all elements: its loops follow from its indices, as in "
      "`v(i) = 1`");
  EXPECT_EQ(in_program("int m = 4"), "int: no line begins with `int`; a number is declared by `param m = ...`");
  EXPECT_EQ(in_program("let A(i, j) = B(i, j)"), "let: no line begins with `let`; leave out `let`");
  EXPECT_EQ(in_program("print(A)"),
            "print: a program has no output command `print`; `distal run` writes a tensor to a file of NumPy with "
            "--save A=a.npy");
  EXPECT_EQ(in_program("include other"), "include: there is no `include`; a program is one file");
  EXPECT_EQ(in_program("A(i, j) = B(n - i, j)"),
            "n - i: `n` is a param, and an index begins with its variable; indices run forwards only; a shift is "
            "written `i + n` or `i - n`");
  EXPECT_EQ(in_program("A(i, j) = B(n + i, j)"),
            "n + i: `n` is a param, and an index begins with its variable; write `i + n`");
}

TEST(Foreign, Formats) {
  EXPECT_EQ(in_program("tensor D(4) = 0"),
            "=: a declaration gives no values; set them by a statement, `D(...) = 0`, or load a file with --load");
  EXPECT_EQ(in_program("tensor D(4) : x -> x block_cyclic(2) on M"),
            "block_cyclic: there is no `block_cyclic`; blocks are the default; `cyclic(x = 64)` deals out blocks of 64 "
            "in turn");
  EXPECT_EQ(in_program("tensor D(4) : x -> x cyclic(2) on M"),
            "2: expected a dimension of the tensor, found `2`; write for instance `cyclic(x = 2)`");
  EXPECT_EQ(in_program("machine N = Grid(2) of gpu"),
            "gpu: expected a grid, found `gpu`; the kind stands behind its grid, as in `Grid(2) gpu`");
}

TEST(Foreign, Commands) {
  auto command = [](const std::string& text) { return in_program("A(i, j) = B(i, j)\nschedule\n  " + text); };
  EXPECT_EQ(command("fuse(i, j, f)"),
            "fuse: unknown schedule command `fuse`; two loops are fused by `collapse(i, j, f)`");
  EXPECT_EQ(
      command("parallel(i)"),
      "parallel: unknown schedule command `parallel`; processors share a loop by `distribute`, the threads of one "
      "processor by `parallelize(i)`");
  EXPECT_EQ(command("split {i, io, ii, 2}"),
            "split: the arguments of the command `split` stand in parentheses; write `split(...)`");
  EXPECT_EQ(command("A.split(i, io, ii, 2)"),
            ".split: a command stands alone, without `A.`; write `split(...)` on a line below `schedule`");
  EXPECT_EQ(
      command("divide(i, io, ii, M.x)"),
      ".: an integer has no members; give the extent of a grid a name: `param gx = 2`, and `machine M = Grid(gx)`");
  EXPECT_EQ(command("reorder([j, i])"),
            "[: expected a name or a list, found `[`; a list of names stands in braces, as in `{i, j}`");
  EXPECT_EQ(command("substitute({i, j}, BLAS::GeMM)"),
            ":: expected one name, found `:`; a kernel has the name `gemm` in a file, and `BLAS::GeMM` in C++");
  EXPECT_EQ(command("unroll(i, 2), unroll(j, 2)"),
            ",: expected an operator or the end of the line, found `,`; each item stands on a line of its own");
  EXPECT_EQ(command("comunicate(B, i)").substr(0, 45), "comunicate: unknown schedule command `comunic");
}

TEST(Foreign, Operators) {
  EXPECT_EQ(in_program("A(i, j) = 2 B(i, j)"),
            "B: an operator is missing between `2` and `B(...)`; a product is written with its sign: `2 * B(...)`");
  EXPECT_EQ(in_program("A(i, j) = 2B(i, j)"),
            "B: an operator is missing between `2` and `B(...)`; a product is written with its sign: `2 * B(...)`");
  EXPECT_EQ(in_program("A(i, j) = B(i, k) B(k, j)"),
            "B: an operator is missing between `B(...)` and `B(...)`; a product is written with its sign: "
            "`B(...) * B(...)`");
  EXPECT_EQ(in_program("A(i, j) = 3/4 * B(i, j)"),
            "/: index notation has no division; write the quotient as a number, 0.75");
  EXPECT_EQ(in_program("A(i, j) = B(i, j) / 2"),
            "/: index notation has no division; multiply by the reciprocal instead: write `* 0.5`");
  EXPECT_EQ(
      in_program("A(i, j) = B(i, j) / 0"),
      "/: index notation has no division; multiply by a tensor that holds the reciprocals; fill it before the run");
  EXPECT_EQ(in_program("A(i, j) = B(i, j) ** 2"),
            "**: index notation has no power `**`; write the factor several times, as in `B(i, j) * B(i, j)`");
  EXPECT_EQ(in_program("A(i, j) = B(i, j) > 0"),
            ">: index notation has no comparisons; multiply by a tensor that is 1 where the condition holds and 0 "
            "elsewhere");
  EXPECT_EQ(in_program("A(i, j) = B(i, j) if i"),
            "if: a statement has no condition `if`; it computes all elements; multiply by a tensor that is 1 where the "
            "term counts and 0 elsewhere");
  EXPECT_EQ(in_program("A(i, j) == B(i, j)"), "=: a statement assigns, and does not compare; write a single `=`");
}

TEST(Foreign, Numbers) {
  EXPECT_EQ(in_program("A(i, j) = 2i * B(i, j)"),
            "2i: `2i` is not a number; there are no imaginary numbers in a statement; declare a scalar, `tensor c`, in "
            "a program of a complex type, multiply by `c`, and load or set its value");
  EXPECT_EQ(in_program("A(i, j) = 1.5f * B(i, j)"),
            "1.5f: `1.5f` is not a number; write 1.5; the line `type float` or `type double` chooses the type of all "
            "elements");
  EXPECT_EQ(in_program("A(i, j) = 1,5 * B(i, j)"),
            "1,5: `1,5` is not a number; a decimal fraction has a point: write 1.5");
  EXPECT_EQ(in_program("A(i, j) = 1_000 * B(i, j)"), "1_000: `1_000` is not a number; write the digits without `_`");
  EXPECT_EQ(in_program("A(i, j) = 0x10 * B(i, j)"),
            "0x10: `0x10` is not a number; numbers are decimal, as in 16 or 1.5e3");
  EXPECT_EQ(refused("param n = 10k\n"), "k: `10k` is not a number; write all digits, as in 10000");
  EXPECT_EQ(refused("param n = 1,000\n"),
            "000: `,000` goes on with a number, and a param is declared by its name; write all digits of a number "
            "without commas");
  EXPECT_EQ(refused("param n = 2**10\n"), "*: there is no power `**`; write the product, as in `1024 * 1024`");
  EXPECT_EQ(refused("param n = 2^10\n"),
            "^: stray character `^`; there is no power: write the factor several times; a transpose has its indices "
            "swapped, as in `B(j, i)`");
}

TEST(Foreign, Functions) {
  EXPECT_EQ(in_program("A(i, j) = max(B(i, j), B(j, i))"),
            "max: index notation has no function `max`; a statement adds, subtracts and multiplies tensors and "
            "numbers; apply `max` to a tensor before or after the run, in C++ or NumPy");
  EXPECT_EQ(in_program("A(i, j) = exp(B(i, j))"),
            "exp: index notation has no function `exp`; a statement adds, subtracts and multiplies tensors and "
            "numbers; apply `exp` to a tensor before or after the run, in C++ or NumPy");
  EXPECT_EQ(in_program("A(i, j) = sum(k, B(i, k) * B(k, j))"),
            "sum: index notation has no function `sum`; an index that stands on the right side only is summed: write "
            "`A(i, j) = B(i, k) * C(k, j)`");
  EXPECT_EQ(
      in_program("A(i, j) = sum_k B(i, k) * B(k, j)"),
      "sum_k: index notation has no function `sum_k`; an index that stands on the right side only is summed: write "
      "`A(i, j) = B(i, k) * C(k, j)`");
  EXPECT_EQ(in_program("A(i, j) = sqrt(2) * B(i, j)").substr(0, 45), "sqrt: index notation has no function `sqrt`; ");
  EXPECT_EQ(in_program("s = min(n, 2)").substr(0, 43), "min: index notation has no function `min`; ");
  EXPECT_EQ(in_program("A(i, j) = transpose(B(i, j))"),
            "transpose: index notation has no function `transpose`; a transpose is an access with its indices swapped, "
            "as in `A(i, j) = B(j, i)`");
  EXPECT_EQ(
      in_program("A(i, j) = B.T(i, j)"),
      ".T: a tensor has no members; a transpose is an access with its indices swapped, as in `A(i, j) = B(j, i)`");
  EXPECT_EQ(refused("tensor exp(4, 4)\ntensor A(4, 4)\nA(i, j) = exp(j, i)\n"), "accepted");
}

TEST(Foreign, Indices) {
  EXPECT_EQ(in_program("A[i, j] = B[i, k] * B[k, j]"),
            "A[i, j]: the indices of `A` stand in square brackets; write `A(i, j)`");
  EXPECT_EQ(in_program("A{i, j} = B{i, j}"), "A{i, j}: the indices of `A` stand in braces; write `A(i, j)`");
  EXPECT_EQ(in_program("A(i, j) = B[i, j]"), "B[i, j]: the indices of `B` stand in square brackets; write `B(i, j)`");
  EXPECT_EQ(in_program("x(i) = x(i + j) * x(j)"),
            "i + j: an index cannot be the sum of two indices; convolutions are not in the language; `j` could only be "
            "a param");
  EXPECT_EQ(in_program("x(i) = x(i - j) * x(j)"),
            "i - j: an index cannot be the difference of two indices; convolutions are not in the language; `j` could "
            "only be a param");
  EXPECT_EQ(in_program("A(i, j) = B(x(i), j)"),
            "x(i): the elements of a tensor cannot be indices; multiply by a matrix that is 1 at the selected elements "
            "and 0 elsewhere, as in `S(i, k) * X(k, j)`");
  EXPECT_EQ(in_program("A(i, j) = B(2*i, j)"),
            "2*: an index cannot be multiplied or divided; an index is a name, as in `B(i, k)`, or a shifted name, as "
            "in `B(i, k + 1)`");
  EXPECT_EQ(in_program("x(j) = B(1, j)"),
            "1: `1` is a number, and an access has an index for each dimension; to pick one row, multiply by a vector "
            "that is 1 there and 0 elsewhere, as in `B(i, j) * e(i)`");
  EXPECT_EQ(in_program("x(i) = B(i, :)"), ":: there are no slices `:`; give each dimension an index, as in `B(i, k)`");
  EXPECT_EQ(in_program("A(i j) = B(i, j)"),
            "j: expected `,` or `)`, found `j`; a comma separates two items: write `i, j`");
  EXPECT_EQ(in_program("A(i, j) = B(i, j)\nschedule\n  reorder(j i)"),
            "i: expected `,` or `)`, found `i`; a comma separates two items: write `j, i`");
}

TEST(Foreign, Lines) {
  EXPECT_EQ(in_program("// a comment"), "//: a comment begins with `#`; write `# ...`");
  EXPECT_EQ(in_program("/* a comment */"), "/*: a comment begins with `#`; write `# ...`");
  EXPECT_EQ(in_program("A(i, j) = B(i, j)\nschedule:\n  distribute(i)"),
            ":: `schedule` takes no colon; write `schedule` on a line of its own");
  EXPECT_EQ(in_program("double D(4)"),
            "double: a declaration begins with its kind, not with a type; write `tensor D...`, and `type double` on a "
            "line of its own: it holds for all tensors");
  EXPECT_EQ(in_program("tensor D(4) float"),
            "float: `float` is an element type, and a tensor has none of its own; write `type float` on a line of its "
            "own: it holds for all tensors");
  EXPECT_EQ(in_program("tensor D[4, 4]"),
            "[: expected `(` and the sizes of the tensor, found `[`; sizes stand in parentheses, as in `tensor D(4, "
            "4)`");
  EXPECT_EQ(in_program("tensor D(4) : x -> x cyclic on M"),
            "cyclic: `cyclic` names no dimension; write for instance `cyclic(x)` or `cyclic(x = 64)`");
  EXPECT_EQ(in_program("param m\ntensor D(m)"),
            ": expected `=` and a value after the param `m`, found the end of the line; a param has a default, which "
            "--set changes: write `param m = 1024`");
  EXPECT_EQ(in_program("x(i) = s * B(i, j)\nschedule\n  distribute i, io, ii, M"),
            "distribute: the arguments of the command `distribute` stand in parentheses; write `distribute(...)`");
  EXPECT_EQ(in_program("x(i) = s * B(i, j)\nschedule\n  distribute(i, io, ii, 4)"),
            "4: expected a machine, a level of it, a tensor or a grid, found `4`; a grid is written `Grid(4)`");
  EXPECT_EQ(in_program("x(i) = alpha * B(i, j)"),
            "alpha: unknown tensor `alpha`; the tensors declared before this are `A`, `B`, `x` and `s`; a scalar is "
            "declared by `tensor alpha`, an integer by `param alpha = ...`");
}

TEST(Foreign, Characters) {
  EXPECT_EQ(in_program("A(i, j) = B(i, j);"),
            ";: stray character `;`; the end of a line ends a statement or a command; leave out the `;`");
  EXPECT_EQ(
      in_program("A(i, j) = B(i, j)'"),
      "': stray character `'`; there are no quotes here; a transpose is an access with its indices swapped, as in "
      "`B(j, i)`");
  EXPECT_EQ(in_program("A(i, j) = einsum('ij->ji', B)"), "': stray character `'`; names are written without quotes");
  EXPECT_EQ(in_program("A(i, j) = B(i % 2, j)"),
            "%: stray character `%`; there is no remainder; a comment begins with `#`");
  EXPECT_EQ(in_program("A(i, j) = B(i, j) \\\n + B(j, i)"),
            "\\: stray character `\\`; what goes on in the next line needs no mark; leave out the `\\`");
  EXPECT_EQ(in_program("A(i, j) = B(i, j) & B(j, i)"),
            "&: stray character `&`; a statement adds, subtracts and multiplies, with `+`, `-` and `*`");
  EXPECT_NE(in_program("α = 2").find("names are made of the letters a to z and A to Z, digits and _;"),
            std::string::npos);
  EXPECT_EQ(in_program("A(i, j) = B(i, k) @ B(k, j)"),
            "@: stray character `@`; a matrix product is written with indices, as in `A(i, j) = B(i, k) * C(k, j)`");
  EXPECT_EQ(refused("! a comment\n"), "!: stray character `!`; a comment begins with `#`");
}

// The line of an error is cut around the caret, so that a file that is no program does not fill the terminal.
TEST(Foreign, LongLines) {
  std::string text = declarations + "A(i, j) = " + std::string(3000, '(') + "B(i, j) ; " + std::string(3000, 'x');
  try {
    parse_module(text, "t.distal");
    FAIL();
  } catch (const Error& e) {
    std::string what = e.what();
    EXPECT_LT(what.size(), 400U);
    EXPECT_NE(what.find("\n  ...((((((((((("), std::string::npos) << what;
    EXPECT_NE(what.find("B(i, j) ; xxxxxx"), std::string::npos) << what;
    size_t caret = what.find('^'), line = what.rfind('\n', caret), above = what.rfind('\n', line - 1);
    EXPECT_EQ(what[above + (caret - line)], ';') << what;
  }
}

}  // namespace
}  // namespace distal::core
