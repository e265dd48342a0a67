// Statements and schedules of every kind, executed and compared with the reference.

#include <gtest/gtest.h>

#include "support/run.h"

namespace distal::core {
namespace {

using test::run_text;
using test::RunOptions;

struct Program {
  std::string name;
  std::string text;
};
void PrintTo(const Program& p, std::ostream* out) { *out << p.text; }

class Statements : public testing::TestWithParam<Program> {};

const char* const kTensors = R"(param n = 7, m = 5, p = 6
machine M = Grid(2, 3)
tensor a : -> 12 on M
tensor s : -> ** on M
tensor x(n) : i -> i* on M
tensor y(n) : i -> 1i on M
tensor z(m) : i -> *i cyclic(i) on M
tensor A(n, m) : ij -> ij on M
tensor B(n, p) : ij -> ji on M
tensor C(p, m) : ij -> i2 on M
tensor D(n, n) : ij -> ij cyclic(i = 2, j) on M
tensor E(m, n) : ij -> ** on M
tensor T(n, m, p) : ijk -> ki on M order(2, 0, 1)
tensor U(n, m, p) : ijk -> ij on M
tensor V(n, p, m, 3) : ijkl -> jl on M
tensor W(m, 3, p, n) : ijkl -> 0j on M
)";

const std::vector<Program>& statements() {
  static const std::vector<Program> all{
      {"vector_add", "x(i) = y(i) + x2(i)"},
      {"matrix_copy", "A(i, j) = A2(i, j)"},
      {"transpose_copy", "E(j, i) = A(i, j)"},
      {"matvec", "x(i) = A(i, j) * z(j)"},
      {"gemm", "A(i, j) = B(i, k) * C(k, j)"},
      {"ttv", "B(i, k) = T(i, j, k) * z(j)"},
      {"ttm", "T(i, j, l) = U(i, j, k) * F(k, l)"},
      {"mttkrp", "A(i, l) = U(i, j, k) * G(j, l) * C(k, l)"},
      {"inner_product", "a = T(i, j, k) * U(i, j, k)"},
      {"row_scaling", "A(i, j) = y(i) * A2(i, j)"},
      {"four_index_contraction", "D(i, j) = V(i, k, l, q) * W(l, q, k, j)"},
      {"three_operand_product", "A(i, j) = B(i, k) * F(k, l) * C(l, j)"},
      {"sums_of_products", "A(i, j) = B(i, k) * C(k, j) + y(i) * z(j) - A2(i, j) * A2(i, j)"},
      {"same_tensor_twice", "D(i, j) = B(i, k) * B(j, k)"},
      {"diagonal", "x(i) = D(i, i)"},
      {"trace", "a = D(i, i)"},
      {"diagonal_of_the_output", "D(i, i) = y(i) * 2"},
      {"add_to_the_diagonal", "D(i, i) += y(i)"},
      {"scalars_and_literals", "A(i, j) = s * 3 * A2(i, j) - 4"},
      {"scalar_only", "a = s * 2 - 1"},
      {"subtraction_and_negation", "A(i, j) = -A2(i, j) - (-E(j, i) - A2(i, j) * -2)"},
      {"accumulate", "A(i, j) += B(i, k) * C(k, j)"},
      {"accumulate_replicated", "s += y(i) * x(i)"},
      {"accumulate_without_a_sum", "E(j, i) += A(i, j)"},
      {"sum_of_everything", "a = T(i, j, k)"},
      {"outer_product", "A(i, j) = y(i) * z(j)"},
      {"terms_with_sums_of_their_own", "x(i) = A(i, j) + B(i, k) - D(i, l) * y(l) + y(i)"},
  };
  return all;
}

std::string with_schedule(const Program& p, const std::string& schedule) {
  std::string text = std::string(kTensors) +
                     "tensor x2(n) : i -> i0 on M\ntensor A2(n, m) : ij -> ji on M\ntensor F(p, p) : ij -> i* on M\n"
                     "tensor G(m, m) : ij -> ij on M\n" +
                     p.text + "\n";
  return schedule.empty() ? text : text + "schedule\n" + schedule;
}

TEST_P(Statements, OnOneProcessor) {
  for (ElementType type : {ElementType::Double, ElementType::Int32, ElementType::ComplexFloat}) {
    RunOptions options;
    options.type = type;
    run_text(with_schedule(GetParam(), ""), "", options);
  }
}

// Distributes the first index, then also the last, which many statements sum over.
TEST_P(Statements, Distributed) {
  Module module = test::parse_text(with_schedule(GetParam(), ""));
  std::vector<IndexVar> all = variables(module.statements[0].statement);
  if (all.empty()) return;
  for (bool own : {false, true}) {
    RunOptions options;
    options.own_memory = own;
    options.type = own ? ElementType::Int64 : ElementType::Float;
    const std::string &i = all.front().name, &k = all.back().name;
    run_text(
        with_schedule(GetParam(), fmt::format("  divide({0}, io, ii, 2)\n  reorder({{io, ii}})\n  distribute(io, M)\n"
                                              "  communicate({1}, io)\n",
                                              i, module.statements[0].statement.lhs.tensor)),
        "", options);
    if (all.size() < 2) continue;
    run_text(with_schedule(GetParam(), fmt::format("  distribute({{{0}, {1}}}, {{io, ko}}, {{ii, ki}}, M)\n"
                                                   "  communicate({2}, ko)\n",
                                                   i, k, module.statements[0].statement.lhs.tensor)),
             "", options);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Statements, testing::ValuesIn(statements()),
                         [](const auto& tested) { return tested.param.name; });

// ---- schedules ----

class Schedules : public testing::TestWithParam<Program> {};

std::vector<Program> schedules() {
  const std::string tiles = "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n";
  const std::string at_launch = "  communicate({A, B, C}, jo)\n";
  std::vector<Program> all{
      {"split_even", "  split(i, io, ii, 3)\n"},
      {"split_uneven", "  split(i, io, ii, 5)\n  split(k, ko, ki, 100)\n"},
      {"divide_even", "  divide(i, io, ii, 4)\n"},
      {"divide_uneven", "  divide(j, jo, ji, 3)\n  divide(k, ko, ki, 5)\n"},
      {"divide_into_more_parts_than_there_are", "  divide(j, jo, ji, 30)\n"},
      {"divide_then_split", "  divide(i, io, ii, 2)\n  split(ii, iio, iii, 5)\n  divide(iii, a, b, 3)\n"},
      {"reorder_full", "  reorder({k, j, i})\n"},
      {"reorder_partial", "  split(k, ko, ki, 4)\n  reorder({ko, i})\n"},
      {"collapse", "  collapse(i, j, f)\n  communicate({A, B, C}, f)\n"},
      {"collapse_then_divide",
       "  collapse(i, j, f)\n  divide(f, fo, fi, 7)\n  distribute(fo, M)\n  communicate({A, B, C}, fo)\n"},
      {"collapse_three",
       "  collapse(i, j, f)\n  collapse(f, k, h)\n  split(h, ho, hi, 50)\n  distribute(ho, M)\n  communicate({A, B, "
       "C}, ho)\n"},
      {"collapse_and_turn_round",
       "  collapse(i, j, f)\n  split(f, fo, fi, 6)\n  reorder({fi, fo, k})\n  communicate({A, B, C}, fi)\n"},
      {"rotate_without_distribution", "  rotate(k, {i, j}, kr)\n"},
      {"rotate_by_one",
       tiles +
           "  divide(k, ko, ki, 3)\n  reorder({ko, ii, ji, ki})\n  rotate(ko, io, kr)\n  communicate({A, B, C}, kr)\n"},
      {"rotate_by_two", tiles + "  divide(k, ko, ki, 5)\n  reorder({ko, ii, ji, ki})\n  rotate(ko, {io, jo}, kr)\n  "
                                "communicate({A, B, C}, kr)\n"},
      {"rotate_with_more_chunks_than_the_grid",
       tiles + "  split(k, ko, ki, 2)\n  reorder({ko, ii, ji, ki})\n  rotate(ko, {io, jo}, kr)\n  communicate(A, jo)\n "
               " communicate({B, C}, kr)\n"},
      {"rotate_by_what_is_split_later",
       tiles + at_launch + "  rotate(k, {ii, ji}, kr)\n  split(ii, iio, iii, 2)\n  reorder({iii, kr, iio, ji})\n"},
      {"rotate_then_communicate_inside",
       "  collapse(i, j, f)\n  rotate(k, f, kr)\n  split(kr, ko, ki, 3)\n  communicate({A, B, C}, ko)\n"},
      {"distribute_one_dimension", "  distribute(i, M)\n  communicate({A, B, C}, i)\n"},
      {"distribute_two_dimensions", tiles + at_launch},
      {"distribute_swapped", "  distribute({j, i}, {jo, io}, {ji, ii}, M)\n  communicate({A, B, C}, io)\n"},
      {"distribute_the_sum", "  distribute({k, j}, {ko, jo}, {ki, ji}, M)\n  communicate({A, B, C}, jo)\n"},
      {"distribute_bare_wraps_round", "  distribute({i, k}, M)\n  communicate({A, B, C}, k)\n"},
      {"distribute_more_than_the_grid", "  distribute({i, j}, {io, jo}, {ii, ji}, Grid(5, 7))\n" + at_launch},
      {"distribute_fewer_than_the_grid", "  distribute({i, j}, {io, jo}, {ii, ji}, Grid(2, 1))\n" + at_launch},
      {"distribute_onto_the_output", "  distribute({i, j}, {io, jo}, {ii, ji}, A)\n" + at_launch},
      {"distribute_onto_an_operand", "  distribute({i, k}, {io, ko}, {ii, ki}, B)\n  communicate({A, B, C}, ko)\n"},
      {"distribute_inside_a_loop",
       "  split(k, ko, ki, 4)\n  reorder({ko, i, j, ki})\n  divide(i, io, ii, 3)\n  divide(j, jo, ji, 2)\n"
       "  reorder({ko, io, jo, ii, ji, ki})\n  distribute({io, jo}, M)\n" +
           at_launch},
      {"communicate_differently", tiles + "  split(k, ko, ki, 4)\n  reorder({io, jo, ko, ii, ji, ki})\n  "
                                          "communicate(A, jo)\n  communicate(B, ko)\n  communicate(C, ii)\n"},
      {"communicate_twice", tiles + "  communicate({A, B, C}, k)\n  communicate({A, B, C}, jo)\n"},
      {"no_communicate", tiles},
      {"parallelize_a_sum", tiles + at_launch + "  parallelize(k, reduction)\n"},
      {"parallelize_with_atomics", tiles + at_launch + "  reorder({k, ii, ji})\n  parallelize(k, atomics)\n"},
      {"unroll", tiles + at_launch + "  unroll(ji, 4)\n"},
      {"vectorize", tiles + at_launch + "  vectorize(k)\n"},
      {"precompute_all", tiles + at_launch + "  precompute(B(i, k) * C(k, j), {ii, ji}, {iw, jw}, W)\n"},
      {"precompute_rows", tiles + at_launch + "  precompute(B(i, k) * C(k, j), {ji}, {jw}, W)\n"},
      {"precompute_one_element", tiles + at_launch + "  precompute(B(i, k) * C(k, j), {}, {}, w)\n"},
      {"precompute_an_operand", tiles + at_launch + "  precompute(B(i, k), {k}, {kw}, W)\n"},
      {"precompute_in_chunks", tiles + at_launch +
                                   "  split(k, ko, ki, 4)\n  reorder({ko, ii, ki, ji})\n  precompute(B(i, k) * C(k, "
                                   "j), {ji}, {jw}, W)\n  split(jw, jwo, jwi, 2)\n"},
      {"precompute_packs_an_operand",
       tiles + at_launch +
           "  split(k, ko, ki, 5)\n  reorder({ko, ki, ji, ii})\n  precompute(C(k, j), {ki, ji}, {kw, "
           "jw}, W)\n"},
      {"precompute_of_a_precompute", tiles + at_launch +
                                         "  precompute(B(i, k) * C(k, j), {ji}, {jw}, V)\n  "
                                         "reorder({k, jw})\n  precompute(C(k, j_V), {jw}, {jx}, W)\n"},
      {"precompute_with_a_kernel", tiles + at_launch +
                                       "  precompute(B(i, k) * C(k, j), {ii, ji}, {iw, jw}, W)\n  "
                                       "substitute({iw, jw, k}, gemm)\n"},
      {"precompute_under_a_rotation",
       tiles + "  divide(k, ko, ki, 3)\n  reorder({ko, ii, ji, ki})\n  rotate(ko, {io, jo}, kr)\n  communicate({A, B, "
               "C}, kr)\n  precompute(B(i, k) * C(k, j), {ji}, {jw}, W)\n"},
      {"precompute_on_one_processor", "  precompute(B(i, k) * C(k, j), {j}, {jw}, W)\n"},
      {"precompute_with_a_home",
       "  precompute(B(i, k) * C(k, j), {i, j}, {iw, jw}, D)\n  distribute({iw, jw}, {iwo, "
       "jwo}, {iwi, jwi}, D)\n  communicate({D, B, C}, jwo)\n  distribute({i, j}, {io, jo}, "
       "{ii, ji}, M)\n  communicate({A, D}, jo)\n"},
      {"precompute_with_a_home_and_no_more", "  precompute(C(k, j), {j, k}, {jw, kw}, E)\n"},
      {"distribute_by_notation",
       "  distribute({k, j}, {ko, jo}, {ki, ji}, xy -> yx on M)\n  communicate({A, B, C}, jo)\n"},
      {"distribute_by_notation_on_a_face",
       "  distribute({i}, {io}, {ii}, x -> x1 on M)\n  communicate({A, B, C}, io)\n"},
      {"distribute_by_notation_cyclic",
       "  distribute({i, j}, {io, jo}, {ii, ji}, xy -> xy cyclic(x = 2, y) on M)\n  communicate({A, B, C}, jo)\n"},
      {"acquire_blocks_that_are_dealt_out",
       "  distribute({i, j}, {io, jo}, {ii, ji}, xy -> xy cyclic(x = 2, y) on M)\n  split(k, ko, ki, 5)\n"
       "  reorder({ko, i_round, j_round, ii, ji, ki})\n  communicate(A, j_round)\n  communicate({B, C}, ko)\n"},
      {"acquire_blocks_of_every_other_tile",
       "  split(i, io, ii, 4)\n  split(ii, iio, iii, 2)\n  reorder({iio, io, iii, j, k})\n  distribute(iio, M)\n"
       "  communicate(A, io)\n  communicate({B, C}, iio)\n"},
      {"acquire_blocks_and_fold_what_is_in_them",
       "  distribute({i, j}, {io, jo}, {ii, ji}, xy -> xy cyclic(x = 3, y = 2) on M)\n  split(k, ko, ki, 5)\n"
       "  reorder({ko, i_round, j_round, ii, ji, ki})\n  communicate({B, C}, ko)\n"},
      {"acquire_blocks_of_a_rotated_loop",
       tiles + "  split(k, ko, ki, 4)\n  split(ki, kio, kii, 2)\n  reorder({kio, ko, ii, ji, kii})\n  rotate(ko, {io}, "
               "kr)\n  communicate(A, jo)\n  communicate(B, kio)\n  communicate(C, kr)\n"},
      {"substitute", tiles + at_launch + "  substitute({ii, ji, k}, gemm)\n"},
      {"substitute_at_the_root", "  substitute({i, j, k}, gemm)\n"},
      {"substitute_in_any_order", tiles + at_launch + "  reorder({k, ji, ii})\n  substitute({ii, k, ji}, gemm)\n"},
      {"substitute_below_chunks", tiles + at_launch +
                                      "  split(k, ko, ki, 3)\n  split(ii, iio, iii, 2)\n  reorder({iio, ko, iii, ji, "
                                      "ki})\n  substitute({iii, ji, ki}, gemm)\n"},
  };
  return all;
}

TEST_P(Schedules, GemmIsRight) {
  const std::string head = R"(param ni = 12, nj = 10, nk = 14
machine M = Grid(3, 2)
tensor A(ni, nj) : xy -> xy on M
tensor B(ni, nk) : xy -> xy on M
tensor C(nk, nj) : xy -> 1y on M
tensor D(ni, nj) : xy -> yx on M
tensor E(nj, nk) : xy -> *x on M
A(i, j) = B(i, k) * C(k, j)
schedule
)";
  for (const char* sizes : {"", "ni=11,nj=7,nk=13", "ni=1,nj=2,nk=3"}) {
    for (bool own : {false, true}) {
      RunOptions options;
      options.own_memory = own;
      options.type = own ? ElementType::Int64 : ElementType::Double;
      options.threads = 1;
      run_text(head + GetParam().text, sizes, options);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Schedules, testing::ValuesIn(schedules()),
                         [](const auto& tested) { return tested.param.name; });

// A processor acquires all its blocks of a cyclic tensor at once: in both dimensions, for two accesses, on two levels.
TEST(Blocks, AreReadAtOnce) {
  const std::string tiles = R"(param n = 12, m = 5
machine M = Grid(2, 2)
tensor A(n, n) : xy -> xy cyclic(x = 2, y = 3) on M
tensor B(n, n) : xy -> xy cyclic(x = 3, y) on M
tensor C(n, m) : xy -> xy on M
)";
  const std::string follow = "schedule\n  distribute({i, j}, {io, jo}, {ii, ji}, A)\n  communicate(A, j_round)\n";
  const std::vector<std::string> texts{
      tiles + "A(i, j) = B(j, i)\n" + follow + "  communicate(B, jo)\n",
      tiles + "A(i, j) = C(i, k) * C(j, k)\n" + follow + "  communicate(C, jo)\n",
      tiles + "A(i, j) = B(i, j) * B(j, i) + C(i, k)\n" + follow + "  communicate({B, C}, jo)\n",
      "param n = 26, m = 5\nmachine M = Grid(2) of Grid(3)\ntensor a(n) : x -> x cyclic(x = 3), x -> x on M\n"
      "tensor b(n) : x -> 1, x -> 0 on M\na(i) = b(i)\nschedule\n  distribute(i, io, ii, a[0])\n"
      "  communicate(b, io)\n  distribute(ii, iio, iii, M[1])\n  reorder({i_round, iii})\n"
      "  communicate(a, i_round)\n"};
  for (const std::string& text : texts) {
    for (const char* sizes : {"", "n=25,m=7", "n=31,m=1", "n=1,m=2"}) {
      for (bool own : {false, true}) {
        RunOptions options;
        options.own_memory = own;
        options.type = own ? ElementType::Int64 : ElementType::Double;
        run_text(text, sizes, options);
      }
    }
  }
}

// On one processor all tensors are at home, so the leaf has all loops, the outermost too.
TEST(Marks, TheOutermostLoopOfOneProcessorIsParallel) {
  run_text("param n = 40\ntensor A(n, n)\ntensor B(n, n)\nA(i, j) = B(i, k) * B(k, j)\nschedule\n  parallelize(i)\n");
}

// The two statements of a workspace count as many flops as the statement that was written.
TEST(Precompute, WithAHomeCountsAsWritten) {
  const std::string text = R"(param n = 6
machine M = Grid(2)
tensor A(n, n) : xy -> x on M
tensor B(n, n) : xy -> x on M
tensor W(n, n) : xy -> x on M
A(i, j) = B(i, k) * B(k, l) * B(l, j)
schedule
)";
  Plan whole = test::plan_text(text + "  distribute({i}, {io}, {ii}, M)\n  communicate({A, B}, io)\n");
  Plan staged = test::plan_text(text +
                                "  precompute(B(i, k) * B(k, l), {i, l}, {iw, lw}, W)\n"
                                "  distribute({iw}, {iwo}, {iwi}, M)\n  communicate({B, W}, iwo)\n"
                                "  distribute({i}, {io}, {ii}, M)\n  communicate({A, B, W}, io)\n");
  ASSERT_EQ(staged.stages.size(), 2U);
  EXPECT_EQ(to_string(staged.stages[0].stage->source.statement), "W(iw, lw) = B(iw, k) * B(k, lw)");
  EXPECT_EQ(to_string(staged.stages[1].stage->source.statement), "A(i, j) = W(i, l) * B(l, j)");
  EXPECT_EQ(count_cost(staged).flops, count_cost(whole).flops);
  EXPECT_EQ(count_cost(staged).tensors.at("W").bytes, 0) << "W stays where it was produced";
}

// The peak that explain reports includes the workspace.
TEST(Precompute, AWorkspaceIsPartOfThePeak) {
  const std::string head = "param n = 30\ntensor A(n, n)\ntensor B(n, n)\nA(i, j) = B(i, k) * B(k, j)\nschedule\n";
  int64_t without = count_cost(test::plan_text(head + "  split(j, jo, ji, 7)\n")).peak_bytes_per_processor;
  const std::string with = head +
                           "  split(j, jo, ji, 7)\n  reorder({i, jo, k, ji})\n"
                           "  precompute(B(i, k) * B(k, j), {ji}, {jw}, W)\n";
  EXPECT_EQ(count_cost(test::plan_text(with)).peak_bytes_per_processor, without + 64)
      << "7 doubles, in whole cache lines";
  RunOptions options;
  options.own_memory = true;
  run_text(with, "", options);
}

// The iterations of a rotated, collapsed loop span the whole range without covering it. Such an output is a partial.
TEST(Regressions, ARotatedCollapseIsNotExact) {
  run_text(R"(param n = 4
machine M = Grid(2)
tensor A(3, n, 5) : xyz -> y on M
tensor B(3, n, 5) : xyz -> y on M
A(l, i, j) = B(l, i, j)
schedule
  collapse(i, j, f)
  rotate(f, l, fr)
  split(fr, fo, fi, 3)
  reorder({fo, l, fi})
  communicate({A, B}, l)
)");
}

}  // namespace
}  // namespace distal::core
