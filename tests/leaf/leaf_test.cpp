// Interpreted, generated and library leaves give the same result.

#include "leaf/leaf.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "leaf/choose_box.h"
#include "leaf/choose_leaf.h"
#include "leaf/generate.h"
#include "leaf/interpret.h"
#include "support/cache_folder.h"
#include "support/golden.h"
#include "support/run.h"

namespace distal::core {
namespace {

using test::run_text;
using test::RunOptions;
using test::TestRun;

const std::vector<ElementType> kTypes{ElementType::Float, ElementType::Double,       ElementType::Int32,
                                      ElementType::Int64, ElementType::ComplexFloat, ElementType::ComplexDouble};

std::string loops_source(const StagePlan& stage, ElementType type) {
  return leaf_sources(stage, type, choose_leaf(stage, type, LeafChoice::Loops));
}

std::string explained_leaf(const StagePlan& stage, ElementType type) { return explanation(choose_leaf(stage, type)); }

// Runs a program with one kind of leaf, checks the result and returns it.
std::vector<std::byte> output_of(const std::string& text, ElementType type, LeafChoice leaf, bool integer_valued) {
  RunOptions options;
  options.type = type;
  options.leaf = leaf;
  options.integer_valued = integer_valued;
  TestRun run(text, "", options);
  run.run_and_check();
  return run.store().gather(run.plan().stages.back().output);
}

// A cache of compiled leaves that later test runs use again.
std::string cache() { return fmt::format("{}distal-leaf-test-{}", testing::TempDir(), geteuid()); }

struct LeafCase {
  std::string name;
  std::string text;
};
void PrintTo(const LeafCase& c, std::ostream* out) { *out << c.text; }

std::string matrices(const std::string& orders, const std::string& rest) {
  std::string out = "param ni = 7, nj = 5, nk = 6\nmachine M = Grid(2, 2)\n";
  const char* const declarations[] = {"A(ni, nj)", "B(ni, nk)", "C(nk, nj)", "D(ni, nj)"};
  for (size_t t = 0; t < 4; ++t) {
    out += std::string("tensor ") + declarations[t] + " : xy -> xy on M" + (orders[t] == 'c' ? " order(1, 0)\n" : "\n");
  }
  return out + rest;
}

std::vector<LeafCase> cases() {
  const std::string gemm =
      "A(i, j) = B(i, k) * C(k, j)\nschedule\n  distribute({i, j}, {io, jo}, {ii, ji}, M)\n"
      "  communicate({A, B, C}, jo)\n";
  const std::string tiles =
      "\nschedule\n  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  communicate({A, B, C, D}, jo)\n";
  std::vector<LeafCase> out{
      {"gemm", matrices("rrrr", gemm)},
      {"gemm_in_chunks", matrices("rrrr", gemm + "  divide(k, ko, ki, 4)\n  reorder({io, jo, ko, ii, ji, ki})\n")},
      {"transposed_operands",
       "param ni = 7, nj = 5, nk = 6\ntensor A(ni, nj)\ntensor B(nk, ni)\ntensor C(nj, nk)\nA(i, j) = B(k, i) * C(j, "
       "k)\n"},
      {"literals", matrices("rcrc", "A(i, j) = 2 * B(i, k) * C(k, j) * 3 - 4 * D(i, j) + 5" + tiles)},
      {"gated_terms", matrices("rrrr", "A(i, j) = D(i, j) - B(i, k) * C(k, j) - (D(i, j) * 2 - B(i, l))" + tiles)},
      {"negation", matrices("crrc", "A(i, j) = -(-D(i, j) * -2) - -B(i, k) * C(k, j)" + tiles)},
      {"accumulate",
       matrices("rrrr", "A(i, j) += B(i, k) * C(k, j)" + std::string(tiles).replace(tiles.find(", D"), 3, ""))},
      {"collapse", matrices("rrrr", gemm + "  collapse(ii, ji, f)\n  split(f, fo, fi, 4)\n  reorder({k, fi, fo})\n")},
      {"collapse_the_sum", matrices("rrrr", gemm + "  collapse(ji, k, f)\n  divide(f, fo, fi, 3)\n")},
      {"rotate", matrices("rrrr", gemm + "  rotate(k, {ii, ji}, kr)\n")},
      {"rotate_more_than_the_extent",
       matrices("rrrr", gemm + "  divide(k, ko, ki, 2)\n  rotate(ko, {io, ii, ji}, kr)\n")},
      {"rotate_in_a_collapse", matrices("rrrr", gemm + "  rotate(k, ii, kr)\n  collapse(ji, kr, f)\n")},
      {"splits_of_splits",
       matrices("rrrr", gemm + "  split(k, ko, ki, 4)\n  split(ki, kio, kii, 3)\n  divide(ii, iio, iii, 3)\n"
                               "  reorder({kii, iio, kio, ji, iii, ko})\n")},
      {"parallel_sum", matrices("rrrr", gemm + "  parallelize(k, reduction)\n")},
      {"parallel_atomics", matrices("rcrr", gemm + "  reorder({k, ii, ji})\n  parallelize(k, atomics)\n")},
      {"parallel_sum_of_vectors", matrices("rrrr", gemm + "  split(k, ko, ki, 4)\n  parallelize(ko, reduction)\n  "
                                                          "vectorize(ki)\n")},
      {"parallel_collapse_with_atomics", matrices("rrrr", gemm + "  collapse(ji, k, f)\n  parallelize(f, atomics)\n")},
      {"vectorized_sum", matrices("rrrr", gemm + "  vectorize(k)\n")},
      {"vectorized_output", matrices("rrrr", gemm + "  reorder({ii, k, ji})\n  vectorize(ji)\n")},
      {"vectorized_uneven", matrices("rrcr", gemm + "  split(k, ko, ki, 4)\n  vectorize(ki)\n")},
      {"vectorized_with_gated_terms",
       matrices("rrrr", "A(i, j) = D(i, j) - B(i, k) * C(k, j)" + tiles + "  vectorize(k)\n")},
      {"unrolled", matrices("rrrr", gemm + "  unroll(k, 3)\n  unroll(ji, 2)\n")},
      {"workspace",
       matrices("rrrr", gemm + "  reorder({ii, k, ji})\n  precompute(B(i, k) * C(k, j), {ji}, {jw}, W)\n")},
      {"workspace_among_terms",
       matrices("rrrr", "A(i, j) = D(i, j) - B(i, k) * C(k, j) * 2" + tiles +
                            "  split(k, ko, ki, 4)\n  reorder({ko, ii, ki, ji})\n"
                            "  precompute(B(i, k) * C(k, j), {ji}, {jw}, W)\n  vectorize(jw)\n")},
      {"workspace_of_a_whole_side", matrices("rrrr", "A(i, j) += D(i, j) - B(i, k) * C(k, j)" + tiles +
                                                         "  split(k, ko, ki, 4)\n  reorder({ko, ii, ki, ji})\n"
                                                         "  precompute(D(i, j) - B(i, k) * C(k, j), {ji}, {jw}, W)\n")},
      {"workspace_of_a_summed_factor",
       "param n = 5\ntensor a(n)\ntensor B(n, n)\ntensor C(n, n)\na(i) = B(i, j) * (C(j, k) - B(k, j)) + B(i, i)\n"
       "schedule\n  precompute(C(j, k) - B(k, j), {}, {}, w)\n  vectorize(k)\n"},
      {"workspaces_of_mttkrp",
       "param n = 6\ntensor A(n, n)\ntensor B(n, n, n)\ntensor C(n, n)\ntensor D(n, n)\n"
       "A(i, l) = B(i, j, k) * C(j, l) * D(k, l)\nschedule\n  split(j, jo, ji, 4)\n  reorder({i, jo, ji, k, l})\n"
       "  precompute(D(k, l) * B(i, j, k), {ji, l}, {jw, lw}, W)\n  reorder({k, lw})\n  substitute({jw, lw, k}, "
       "gemm)\n"},
      {"matrix_times_vector", "param n = 9, m = 4\ntensor a(n)\ntensor B(n, m)\ntensor c(m)\na(i) = B(i, j) * c(j)\n"},
      {"vector_times_matrix", "param n = 9, m = 4\ntensor a(n)\ntensor B(m, n)\ntensor c(m)\na(i) = c(j) * B(j, i)\n"},
      {"outer_product_added",
       "param n = 9, m = 4\ntensor A(n, m) order(1, 0)\ntensor b(n)\ntensor c(m)\nA(i, j) += b(i) * c(j)\n"},
      {"inner_product",
       "param n = 5\ntensor a\ntensor B(n, n, n)\ntensor C(n, n, n) order(2, 0, 1)\na = B(i, j, k) * C(i, j, k)\n"},
      {"tensor_times_vector",
       "param n = 5\ntensor A(n, n)\ntensor B(n, n, n)\ntensor c(n)\nA(i, k) = B(i, j, k) * c(j)\n"},
      {"tensor_times_matrix",
       "param n = 5\ntensor A(n, n, 3)\ntensor B(n, n, n)\ntensor C(n, 3)\nA(i, j, l) = B(i, j, k) * C(k, l)\n"},
      {"batches",
       "param n = 4\ntensor A(n, n, 3)\ntensor B(n, 3, n)\ntensor C(3, n, n)\nA(i, j, b) = B(i, b, k) * C(b, k, j)\n"},
      {"contraction_of_four",
       "param n = 3\ntensor A(n, n, 2, n)\ntensor B(n, 4, n, n)\ntensor C(4, n, n, 2)\n"
       "A(a, b, c, d) = B(a, e, f, b) * C(e, d, f, c)\n"},
      {"no_stride_that_blas_takes",
       "param n = 4\ntensor A(n, n, 3)\ntensor B(n, n, 3)\ntensor C(n, n, 3)\nA(i, j, b) = B(i, k, b) * C(k, j, b)\n"},
      {"same_tensor_twice", "param n = 9\ntensor A(n, n)\ntensor B(n, n)\nA(i, j) = B(i, k) * B(j, k)\n"},
      {"diagonals", "param n = 9\ntensor A(n, n)\ntensor B(n, n)\ntensor c(n)\nA(i, i) = B(i, i) * c(i) - B(i, j)\n"},
      {"scalars", "param n = 9\ntensor a\ntensor b\ntensor c(n)\na = b * c(i) * c(i) - b\n"},
      {"six_dimensions",
       "tensor A(2, 3, 2)\ntensor B(2, 2, 3, 2, 3, 2)\ntensor C(2, 2, 3)\n"
       "A(i, j, k) = B(l, i, j, m, p, k) * C(m, l, p)\n"},
      {"words_of_c", "param n = 4\ntensor int(n)\ntensor class(n)\nint(for) = class(for) * class(while)\n"},
  };
  for (const std::string orders : {"rrrr", "crrr", "rcrr", "rrcr", "crcr", "cccr"}) {
    out.push_back({"order_" + orders, matrices(orders, gemm)});
    out.push_back({"library_order_" + orders, matrices(orders, gemm + "  substitute({ii, ji, k}, gemm)\n")});
  }
  out.push_back({"library_transposed",
                 "param ni = 7, nj = 5, nk = 6\ntensor A(ni, nj)\ntensor B(nk, ni)\ntensor C(nj, nk)\n"
                 "A(i, j) = B(k, i) * C(j, k)\nschedule\n  substitute({i, j, k}, gemm)\n"});
  out.push_back({"library_batched",
                 "param n = 4\ntensor A(3, n, n)\ntensor B(n, 3, n)\ntensor C(n, n, 3)\n"
                 "A(b, i, j) = B(i, b, k) * C(k, j, b)\nschedule\n  substitute({i, j, k}, gemm)\n"});
  out.push_back(
      {"library_below_a_rotation",
       matrices("rrrr", gemm + "  divide(k, ko, ki, 3)\n  reorder({ko, ii, ji, ki})\n  rotate(ko, {io, jo}, kr)\n"
                               "  substitute({ii, ji, ki}, gemm)\n")});
  return out;
}

class Leaves : public testing::TestWithParam<LeafCase> {};

TEST_P(Leaves, InterpretedOnEveryType) {
  for (ElementType type : kTypes) {
    SCOPED_TRACE(to_string(type));
    std::vector<std::byte> exact = output_of(GetParam().text, type, LeafChoice::Interpreted, true);
    // Automatic calls the library where substitute asks for it. Sums of small integers are exact in any order.
    EXPECT_TRUE(output_of(GetParam().text, type, LeafChoice::Automatic, true) == exact);
    output_of(GetParam().text, type, LeafChoice::Automatic, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Leaves, testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

// Compiling is slow, so each case is compiled for one type only.
class GeneratedLeaves : public testing::TestWithParam<LeafCase> {};

TEST_P(GeneratedLeaves, EqualInterpretedOnes) {
  test::CacheFolder folder(cache());
  size_t number = std::hash<std::string>{}(GetParam().name);
  ElementType type = kTypes[number % kTypes.size()];
  SCOPED_TRACE(to_string(type));
  EXPECT_TRUE(output_of(GetParam().text, type, LeafChoice::Generated, true) ==
              output_of(GetParam().text, type, LeafChoice::Interpreted, true));
  output_of(GetParam().text, type, LeafChoice::Generated, false);
}

std::vector<LeafCase> generated_cases() {
  std::vector<LeafCase> out;
  for (const LeafCase& c : cases()) {
    if (c.name.find("order_") == std::string::npos || c.name == "order_crcr") out.push_back(c);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Cases, GeneratedLeaves, testing::ValuesIn(generated_cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST(GeneratedLeaf, OneSourceFitsAllSizes) {
  test::CacheFolder folder(cache());
  std::string text = test::tiled_gemm("  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  communicate({A, B, C}, jo)\n");
  Plan small = test::plan_text(text, "ni=3,nj=4,nk=5"), large = test::plan_text(text, "ni=30,nj=41,nk=52,gx=3,gy=1");
  EXPECT_EQ(loops_source(small.stages[0], ElementType::Float), loops_source(large.stages[0], ElementType::Float));
  RunOptions options;
  options.leaf = LeafChoice::Generated;
  for (const char* settings : {"ni=3,nj=4,nk=5", "ni=30,nj=41,nk=52,gx=3,gy=1", "ni=1,nj=1,nk=1"}) {
    run_text(text, settings, options);
  }
}

TEST(GeneratedLeaf, RunsInParallel) {
  test::CacheFolder folder(cache());
  for (const char* loop : {"ii", "ji"}) {
    RunOptions options;
    options.leaf = LeafChoice::Generated;
    std::string text =
        test::tiled_gemm("  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  communicate({A, B, C}, jo)\n  parallelize(" +
                         std::string(loop) + ")\n");
    run_text(text, "ni=37,nj=29,nk=11", options);
    Plan plan = test::plan_text(text);
    EXPECT_NE(loops_source(plan.stages[0], ElementType::Double).find("#pragma omp parallel for"), std::string::npos);
  }
}

TEST(GeneratedLeaf, Source) {
  Plan gemm = test::plan_text(
      test::tiled_gemm("  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  split(k, ko, ki, chunk)\n"
                       "  reorder({io, jo, ko, ii, ji, ki})\n  communicate({B, C}, ko)\n  communicate(A, jo)\n"));
  test::expect_golden("leaf/gemm_double.txt", loops_source(gemm.stages[0], ElementType::Double));
  Plan sums = test::plan_text(
      "param n = 6\ntensor a(n)\ntensor B(n, n)\ntensor c(n)\na(i) += 2 * B(i, j) - -B(j, i) * 3 + c(i)\n"
      "schedule\n  collapse(i, j, f)\n  split(f, fo, fi, 4)\n  rotate(fi, fo, fr)\n",
      "");
  test::expect_golden("leaf/collapse_int32.txt", loops_source(sums.stages[0], ElementType::Int32));
}

// ---- the automatic choice ----

std::string explained(const std::string& statement, ElementType type = ElementType::Double) {
  std::string text =
      "param n = 6\ntensor a\ntensor x(n)\ntensor y(n)\ntensor A(n, n)\ntensor B(n, n)\ntensor C(n, n)\n"
      "tensor T(n, n, n)\ntensor U(n, n, n)\n" +
      statement + "\n";
  return explained_leaf(test::plan_text(text).stages[0], type);
}

TEST(LibraryLeaf, IsFoundByStructure) {
  EXPECT_EQ(explained("A(i, j) = C(k, j) * B(i, k)"), "A(i, j) += C(k, j) * B(i, k): gemm by BLAS\n");
  EXPECT_EQ(explained("T(i, j, l) = U(i, j, k) * B(k, l)"), "T(i, j, l) += U(i, j, k) * B(k, l): gemm by BLAS\n");
  EXPECT_EQ(explained("x(i) = A(i, j) * y(j)"), "x(i) += A(i, j) * y(j): gemv by BLAS\n");
  EXPECT_EQ(explained("a = T(i, j, k) * U(i, j, k)"), "a += T(i, j, k) * U(i, j, k): inner products by BLAS\n");
  EXPECT_EQ(explained("A(i, j) += x(i) * y(j)"), "A(i, j) += x(i) * y(j): outer products by BLAS\n");
  EXPECT_EQ(explained("A(i, j) = B(i, k) * C(k, j)\nschedule\n  collapse(i, j, f)\n  split(f, fo, fi, 5)"),
            "A(i, j) += B(i, k) * C(k, j): gemm by BLAS\n");
  EXPECT_EQ(explained("A(i, j) = B(i, k) * C(k, j)\nschedule\n  substitute({i, j, k}, gemm)"),
            "A(i, j) += B(i, k) * C(k, j): gemm, as substitute asks\n");
}

TEST(LibraryLeaf, TheReasonForNoLibraryIsExplained) {
  const std::string gemm = "A(i, j) = B(i, k) * C(k, j)", made = "A(i, j) += B(i, k) * C(k, j): ",
                    little = "interpreted as long as there is little to do, then ",
                    blocks = "B(i, k) times C(k, j) in register blocks", no_library = "; no library, because ",
                    in_order = "generated code, loop by loop, because ";
  EXPECT_EQ(explained(gemm, ElementType::Int64),
            made + little + blocks + no_library + "there is no BLAS for integers\n");
  EXPECT_EQ(explained(gemm + "\nschedule\n  vectorize(k)"),
            made + in_order + "a loop is parallelized, vectorized or unrolled\n");
  Plan uneven = test::plan_text(
      "machine M = Grid(4)\ntensor A(6, 6)\ntensor B(6, 6)\ntensor C(6, 6)\n" + gemm +
      "\nschedule\n  collapse(i, j, f)\n  divide(f, fo, fi, 4)\n  distribute(fo)\n  communicate({A, B, C}, fo)\n");
  EXPECT_EQ(explained_leaf(uneven.stages[0], ElementType::Double),
            made + little + in_order + "its loops do not run over a box\n");
  EXPECT_EQ(explained("A(i, j) = x(i) * y(j)"),
            "A(i, j) = x(i) * y(j): " + little + "in one pass" + no_library + "it assigns and does not add\n");
  EXPECT_EQ(explained("x(i) = A(i, j) * B(j, i) * y(j)"),
            "x(i) += A(i, j) * B(j, i) * y(j): " + little + "in one pass" + no_library +
                "A(i, j) * B(j, i) * y(j) is not a product of two tensors\n");
  EXPECT_EQ(explained("x(i) = A(i, j) * y(i)"),
            "x(i) += A(i, j) * y(i): " + little + "in one pass" + no_library + "j occurs in one tensor only\n");
  EXPECT_EQ(explained("x(i) = A(i, j) * y(j) + y(i)"),
            "x(i) += A(i, j) * y(j) + y(i): " + little + "in one pass; gemv by BLAS would be slower; then in one pass" +
                no_library + "y(i) is not a product of two tensors\n");
}

// All but a few of the 2^62 iterations are past the end. A leaf that went through them would not end.
TEST(InterpretedLeaf, SkipsIterationsPastTheEnd) {
  test::RunOptions options;
  options.leaf = LeafChoice::Interpreted;
  std::string program = "param huge = 4611686018427387904\ntensor A(5)\ntensor B(5)\nA(i) = B(i)\nschedule\n";
  test::run_text(program + "split(i, io, ii, huge)\n", "", options);
  test::run_text(program + "divide(i, io, ii, huge)\n", "", options);
  test::run_text(program + "split(i, io, ii, 2)\ndivide(ii, iio, iii, huge)\n", "", options);
}

TEST(LeafChoiceTest, TheLibraryWhereSubstituteAsksForIt) {
  Plan plan = test::plan_algorithm("summa", "ni=8,nj=8,nk=8,chunk=4");
  EXPECT_EQ(make_leaf(plan.stages[0], ElementType::Double, LeafChoice::Automatic)->description(), "gemm (BLAS)");
  EXPECT_EQ(make_leaf(plan.stages[0], ElementType::Int64, LeafChoice::Automatic)->description(),
            "gemm (plain loops: no BLAS for integers)");
  EXPECT_EQ(make_leaf(plan.stages[0], ElementType::Double, LeafChoice::Interpreted)->description(), "interpreted");
  Plan found = test::plan_algorithm("ttv", "ni=8,nj=8,nk=8");
  EXPECT_EQ(make_leaf(found.stages[0], ElementType::Double, LeafChoice::Automatic)->description(), "BLAS");
  Plan tiny = test::plan_algorithm("mttkrp", "ni=8,nj=8,nk=8");
  EXPECT_EQ(make_leaf(tiny.stages[0], ElementType::Double, LeafChoice::Automatic)->description(), "interpreted");
}

TEST(LeafChoiceTest, WithoutACompiler) {
  ScopedVariable path("PATH", "/nonexistent"), chosen("DISTAL_CXX", "");
  const std::string interpreted = "interpreted, as there is no C++ compiler";
  auto description = [](const std::string& text, const std::string& sizes, LeafChoice choice = LeafChoice::Automatic) {
    return make_leaf(test::plan_algorithm(text, sizes).stages[0], ElementType::Double, choice)->description();
  };
  for (const char* sizes : {"ni=8,nj=8,nk=8", "ni=500,nj=500,nk=500"}) {
    EXPECT_EQ(description("mttkrp", sizes), interpreted);
    EXPECT_EQ(description("ttv", sizes), "BLAS");
    EXPECT_EQ(description("summa", sizes), "gemm (BLAS)");
    EXPECT_EQ(description("ttv", sizes, LeafChoice::Strict), interpreted);
  }
  const std::string sum = "x(i) = A(i, j) * y(j) + y(i)", made = "x(i) += A(i, j) * y(j) + y(i): ";
  EXPECT_EQ(explained(sum), made + interpreted + "\n");
  EXPECT_EQ(explained(sum + "\nschedule\n  vectorize(j)"), made + interpreted + "\n");
  for (const char* text : {"mttkrp", "ttm"}) test::run_algorithm(text, "ni=9,nj=8,nk=7");
  // A compiler that was asked for must be there.
  ScopedVariable wrong("DISTAL_CXX", "/nonexistent/c++");
  EXPECT_NE(test::message_of([&] { description("mttkrp", "ni=500,nj=500,nk=500"); }), "");
}

// ---- addresses beyond 2^31 elements, without their memory ----

// Only one element of each operand exists. Its view places it at a far coordinate.
TEST(LargeAddresses, EveryLeafComputesIn64Bits) {
  test::CacheFolder folder(cache());
  constexpr int64_t far = int64_t{1} << 34;
  // The last chunk of i has one iteration, the one at 2^34.
  Plan plan = test::plan_text(R"(param ni = 1, nj = 1, nk = 1
tensor A(ni, nj)
tensor B(ni, nk)
tensor C(nk, nj)
A(i, j) = B(i, k) * C(k, j)
schedule
  split(i, io, ii, 4096)
  communicate({A, B, C}, io)
  substitute({ii, j, k}, gemm)
)",
                              fmt::format("ni={}", far + 1));
  const StagePlan& stage = plan.stages[0];
  double a = 5, b = 7, c = 11;
  constexpr int64_t stride = 16;
  View rows{nullptr, -far * stride, {stride, 1}};
  LeafArguments arguments;
  arguments.values.assign(static_cast<size_t>(stage.space.size()), 0);
  arguments.values[find_variable(stage.stage->space, "io")] = far / 4096;
  arguments.operands = {rows, rows, View{reinterpret_cast<std::byte*>(&c), 0, {1, 1}}};
  arguments.operands[0].data = reinterpret_cast<std::byte*>(&a);
  arguments.operands[1].data = reinterpret_cast<std::byte*>(&b);
  std::vector<std::unique_ptr<LeafKernel>> leaves;
  leaves.push_back(make_interpreted_leaf(whole_leaf(stage), ElementType::Double));
  leaves.push_back(make_leaf(stage, ElementType::Double, LeafChoice::Strict));
  leaves.push_back(make_generated_leaf(whole_leaf(stage), ElementType::Double, false));
  leaves.push_back(make_leaf(stage, ElementType::Double, LeafChoice::Generated));
  double want = a;
  for (const auto& leaf : leaves) {
    leaf->run(arguments);
    want += b * c;
    EXPECT_EQ(a, want) << leaf->description();
  }
}

}  // namespace
}  // namespace distal::core
