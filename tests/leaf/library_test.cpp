// The kernels that substitute names: on rectangular data of every type and storage order, alone and inside other loops.

#include <gtest/gtest.h>

#include "leaf/choose_box.h"
#include "leaf/choose_leaf.h"
#include "support/run.h"

namespace distal::core {
namespace {

struct KernelCase {
  std::string name;
  std::string kernel;
  std::string text;
};
void PrintTo(const KernelCase& c, std::ostream* out) { *out << c.text; }

const std::string kDeclarations =
    "param ni = 7, nj = 5, nk = 6, nb = 3\ntensor s\ntensor t\ntensor x(ni)\ntensor y(nk)\ntensor u(ni)\ntensor "
    "v(nj)\n";

// Declares matrices that are stored by rows ('r') or by columns ('c').
std::string matrices(const std::string& orders) {
  const char* const shapes[] = {"A(ni, nj)", "B(ni, nk)", "C(nk, nj)"};
  std::string out;
  for (size_t t = 0; t < 3; ++t) out += fmt::format("tensor {}{}\n", shapes[t], orders[t] == 'c' ? " order(1, 0)" : "");
  return out;
}

std::vector<KernelCase> cases() {
  std::vector<KernelCase> out;
  auto add = [&](const std::string& name, const std::string& kernel, const std::string& text) {
    out.push_back({name, kernel, kDeclarations + text + "\n"});
  };
  for (const std::string orders : {"rrr", "crr", "rcr", "rrc", "ccc"}) {
    auto add_ordered = [&](const std::string& name, const std::string& kernel, const std::string& text) {
      add(name + "_" + orders, kernel, matrices(orders) + text);
    };
    const std::string product = "A(i, j) = B(i, k) * C(k, j)\nschedule\n";
    add_ordered("gemv", "gemv", "x(i) = B(i, k) * y(k)\nschedule\n  substitute({i, k}, gemv)");
    add_ordered("gemv_vector_first", "gemv", "x(i) += y(k) * B(i, k)\nschedule\n  substitute({k, i}, gemv)");
    add_ordered("gemv_transposed", "gemv", "v(j) = C(k, j) * y(k)\nschedule\n  substitute({j, k}, gemv)");
    add_ordered("gemv_by_column", "gemv", product + "  reorder({j, i, k})\n  substitute({i, k}, gemv)");
    add_ordered("gemv_by_row", "gemv", product + "  substitute({j, k}, gemv)");
    add_ordered("ger", "ger", "A(i, j) += x(i) * v(j)\nschedule\n  substitute({i, j}, ger)");
    add_ordered("ger_swapped", "ger", "A(i, j) += v(j) * x(i)\nschedule\n  substitute({i, j}, ger)");
    add_ordered("ger_in_a_sum", "ger", product + "  reorder({k, i, j})\n  substitute({i, j}, ger)");
    add_ordered("dot_of_rows", "dot", product + "  substitute({k}, dot)");
    add_ordered("axpy_in_a_product", "axpy", product + "  reorder({i, k, j})\n  substitute({j}, axpy)");
    add_ordered("axpy_down_a_column", "axpy", product + "  reorder({j, k, i})\n  substitute({i}, axpy)");
    add_ordered("syrk", "syrk",
                "tensor S(ni, ni)\nS(i, l) += B(i, k) * B(l, k)\nschedule\n  substitute({i, l, k}, syrk)");
    add_ordered("syrk_transposed", "syrk",
                "tensor S(nj, nj) order(1, 0)\nS(j, l) = C(k, j) * C(k, l)\nschedule\n  substitute({j, l, k}, syrk)");
  }
  add("dot", "dot", "s = x(i) * u(i)\nschedule\n  substitute({i}, dot)");
  add("dot_of_parts", "dot", "s += x(i) * u(i)\nschedule\n  split(i, io, ii, 3)\n  substitute({ii}, dot)");
  add("axpy", "axpy", "x(i) += t * u(i)\nschedule\n  substitute({i}, axpy)");
  add("axpy_vector_first", "axpy", "x(i) += u(i) * t\nschedule\n  substitute({i}, axpy)");
  add("axpy_with_steps", "axpy",
      "tensor P(ni, nb)\ntensor Q(ni, nk)\ntensor C(nk, nb)\nP(i, b) += Q(i, l) * C(l, b)\nschedule\n  reorder({b, l, "
      "i})\n"
      "  substitute({i}, axpy)");
  const std::string batches = "A(b, i, j) = B(b, i, k) * C(b, k, j)\nschedule\n";
  add("batched_gemm", "batched_gemm",
      "tensor A(nb, ni, nj)\ntensor B(nb, ni, nk)\ntensor C(nb, nk, nj)\n" + batches +
          "  substitute({b, i, j, k}, batched_gemm)");
  add("batched_gemm_of_transposes", "batched_gemm",
      "tensor A(nb, ni, nj) order(0, 2, 1)\ntensor B(nb, ni, nk) order(2, 0, 1)\ntensor C(nb, nk, nj) order(1, 0, "
      "2)\n" +
          batches + "  substitute({b, i, j, k}, batched_gemm)");
  add("batched_gemm_inside", "batched_gemm",
      "tensor A(2, nb, ni, nj)\ntensor B(2, nb, ni, nk)\ntensor C(nb, nk, nj)\n"
      "A(a, b, i, j) = B(a, b, i, k) * C(b, k, j)\nschedule\n  substitute({b, i, j, k}, batched_gemm)");
  add("batched_gemm_without_a_stride_for_blas", "batched_gemm",
      "tensor A(ni, nj, nb)\ntensor B(ni, nk, nb)\ntensor C(nk, nj, nb)\n"
      "A(i, j, b) = B(i, k, b) * C(k, j, b)\nschedule\n  reorder({b, i, j, k})\n"
      "  substitute({b, i, j, k}, batched_gemm)");
  return out;
}

class Kernels : public testing::TestWithParam<KernelCase> {};

TEST_P(Kernels, AreRightOnEveryType) {
  for (ElementType type : {ElementType::Float, ElementType::Double, ElementType::ComplexFloat,
                           ElementType::ComplexDouble, ElementType::Int32, ElementType::Int64}) {
    SCOPED_TRACE(to_string(type));
    for (LeafChoice choice : {LeafChoice::Automatic, LeafChoice::Strict}) {
      test::RunOptions options;
      options.type = type;
      options.leaf = choice;
      options.integer_valued = false;
      test::TestRun run(GetParam().text, "", options);
      const char* blas =
          GetParam().name.ends_with("without_a_stride_for_blas") ? "plain loops: no BLAS for such strides" : "BLAS";
      const char* how = is_integer(type) ? "plain loops: no BLAS for integers" : blas;
      EXPECT_EQ(run.leaf_names()[0], fmt::format("{} ({})", GetParam().kernel, how));
      run.run_and_check();
      run.place(2);
      run.run_and_check();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Kernels, testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

// Large products. They run in register blocks if the matrices are thin, or small and not transposed.
struct BlocksCase {
  std::string orders;
  int rows, columns, sums;
  bool blocks;
  int tile = 1000;  // columns of a tile; the last one may take another kernel than the first
};
void PrintTo(const BlocksCase& c, std::ostream* out) {
  *out << c.orders << " " << c.rows << " " << c.columns << " " << c.sums;
}

class KernelsInBlocks : public testing::TestWithParam<BlocksCase> {};

TEST_P(KernelsInBlocks, AreRight) {
  const auto& [orders, rows, columns, sums, blocks, tile] = GetParam();
  for (ElementType type : {ElementType::Float, ElementType::Double, ElementType::ComplexDouble, ElementType::Int32}) {
    SCOPED_TRACE(to_string(type));
    test::RunOptions options;
    options.type = type;
    options.integer_valued = false;
    options.threads = 2;
    std::string text = "param ni = 1, nj = 1, nk = 1, tile = 1\n" + matrices(orders) +
                       "A(i, j) = B(i, k) * C(k, j)\nschedule\n  split(j, jo, ji, tile)\n  reorder({jo, i, ji, k})\n"
                       "  substitute({i, ji, k}, gemm)\n";
    auto plan = std::make_unique<Plan>(test::plan_module(
        test::TestRun::typed(test::parse_text(text), type),
        test::settings_of(fmt::format("ni={},nj={},nk={},tile={}", rows, columns, sums, tile)), PlanOptions{}));
    const StagePlan& stage = plan->stages[0];
    LeafPlan leaf{"it", choose_substitute(whole_leaf(stage), type, false, true)};
    Leaves leaves;
    leaves.push_back(make_leaf(stage, type, leaf));
    bool in_blocks = is_integer(type) || (blocks && type != ElementType::ComplexDouble);
    EXPECT_EQ(leaves[0]->description().starts_with("gemm in register blocks"), in_blocks) << leaves[0]->description();
    EXPECT_EQ(leaf_sources(stage, type, leaf).empty(), !in_blocks);
    EXPECT_EQ(explanation(leaf),
              in_blocks ? "it: gemm, as substitute asks, in register blocks\n" : "it: gemm, as substitute asks\n");
    test::TestRun run(std::move(plan), options, std::move(leaves));
    run.run_and_check();
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, KernelsInBlocks,
                         testing::Values(BlocksCase{"rrr", 193, 211, 194, true}, BlocksCase{"ccc", 193, 211, 194, true},
                                         BlocksCase{"rcr", 193, 211, 194, false},
                                         BlocksCase{"crr", 193, 211, 194, false},
                                         BlocksCase{"rrr", 193, 400, 193, false}, BlocksCase{"rrr", 31, 301, 57, true},
                                         BlocksCase{"rcr", 193, 211, 194, false, 192}),
                         [](const auto& tested) {
                           const BlocksCase& c = tested.param;
                           return fmt::format("{}_{}_{}_{}_in_{}", c.orders, c.rows, c.columns, c.sums, c.tile);
                         });

// Enough work for several threads, which share an index of the output or the sum.
TEST(KernelsOnThreads, AreRight) {
  test::RunOptions options;
  options.threads = 3;
  for (const char* text : {
           "tensor s\ntensor x(70001)\ntensor y(70001)\ns = x(i) * y(i)\nschedule\n  substitute({i}, dot)\n",
           "tensor t\ntensor x(70001)\ntensor y(70001)\nx(i) += t * y(i)\nschedule\n  substitute({i}, axpy)\n",
           "tensor x(301)\ntensor B(301, 203)\ntensor y(203)\nx(i) = B(i, k) * y(k)\nschedule\n"
           "  substitute({i, k}, gemv)\n",
           "tensor A(301, 203)\ntensor x(301)\ntensor y(203)\nA(i, j) += x(i) * y(j)\nschedule\n"
           "  substitute({i, j}, ger)\n",
           "tensor A(31, 31)\ntensor B(31, 70)\nA(i, j) = B(i, k) * B(j, k)\nschedule\n  substitute({i, j, k}, syrk)\n",
           "tensor A(9, 20, 30)\ntensor B(9, 20, 10)\ntensor C(9, 10, 30)\nA(b, i, j) = B(b, i, k) * C(b, k, j)\n"
           "schedule\n  substitute({b, i, j, k}, batched_gemm)\n",
       }) {
    test::run_text(text, "", options);
  }
}

// On a grid whose tiles have different sizes.
TEST(KernelsOnThreads, AreRightInTiles) {
  const std::string start =
      "machine M = Grid(2, 2)\ntensor A(7, 5) : xy -> xy on M\ntensor B(7, 6) : xy -> xy on M\n"
      "tensor C(6, 5) : xy -> xy on M\nA(i, j) = B(i, k) * C(k, j)\nschedule\n"
      "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  communicate({A, B, C}, jo)\n";
  for (const char* rest : {"  substitute({ji, k}, gemv)\n", "  reorder({k, ii, ji})\n  substitute({ii, ji}, ger)\n",
                           "  substitute({k}, dot)\n", "  reorder({k, ii, ji})\n  substitute({ji}, axpy)\n"}) {
    test::run_text(start + rest, "");
  }
}

std::string explained(const std::string& text) {
  Plan plan = test::plan_text(kDeclarations + matrices("rrr") + text + "\n");
  return explanation(choose_leaf(plan.stages[0], ElementType::Double));
}

TEST(KernelsExplained, AreNamed) {
  EXPECT_EQ(explained("x(i) = B(i, k) * y(k)\nschedule\n  substitute({i, k}, gemv)"),
            "x(i) += B(i, k) * y(k): gemv, as substitute asks\n");
  EXPECT_EQ(explained("tensor S(ni, ni)\nS(i, j) = B(i, k) * B(j, k)\nschedule\n  substitute({i, j, k}, syrk)"),
            "S(i, j) += B(i, k) * B(j, k): syrk, as substitute asks, one half mirrored where rows and columns have the "
            "same range\n");
}

TEST(KernelsExplained, ProgramSaysWhatTheirIndicesAre) {
  auto shown = [](const std::string& text) {
    std::string program = to_string(*test::plan_text(kDeclarations + text + "\n").program);
    size_t from = program.find(" as ") + 4;
    return program.substr(from, program.find("):", from) + 1 - from);
  };
  EXPECT_EQ(shown(matrices("rrr") + "x(i) = y(k) * B(i, k)\nschedule\n  substitute({k, i}, gemv)"),
            "gemv(rows i, sum k)");
  EXPECT_EQ(shown(matrices("rrr") + "A(i, j) += x(i) * v(j)\nschedule\n  substitute({j, i}, ger)"),
            "ger(rows i, columns j)");
  EXPECT_EQ(shown("s = x(i) * u(i)\nschedule\n  substitute({i}, dot)"), "dot(sum i)");
  EXPECT_EQ(shown("x(i) += t * u(i)\nschedule\n  substitute({i}, axpy)"), "axpy(rows i)");
  EXPECT_EQ(shown("tensor D(nb, ni, nj)\ntensor E(nb, ni, nk)\ntensor F(nb, nk, nj)\n"
                  "D(b, i, j) = E(b, i, k) * F(b, k, j)\nschedule\n  substitute({b, i, j, k}, batched_gemm)"),
            "batched_gemm(batch b, rows i, columns j, sum k)");
}

}  // namespace
}  // namespace distal::core
