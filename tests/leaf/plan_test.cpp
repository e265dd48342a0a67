// The plan of a leaf is data: it prints, it compares, and the leaf is made from it alone.

#include <gtest/gtest.h>

#include "leaf/choose_leaf.h"
#include "support/golden.h"
#include "support/run.h"

namespace distal::core {
namespace {

const std::string kTensors =
    "param n = 2048, l = 64\ntensor a\ntensor x(n)\ntensor y(n)\ntensor A(n, n)\ntensor B(n, n)\ntensor C(n, n)\n"
    "tensor P(n, l)\ntensor Q(n, l)\ntensor R(n, l)\ntensor U(n, n, n)\n";

LeafPlan planned(const std::string& statement, const std::string& settings = "",
                 LeafChoice choice = LeafChoice::Automatic) {
  return choose_leaf(test::plan_text(kTensors + statement + "\n", settings).stages[0], ElementType::Double, choice);
}

// One leaf of each kind, by its kernels.
TEST(LeafPlan, Prints) {
  const std::string gemm = "A(i, j) = B(i, k) * C(k, j)", mttkrp = "R(i, m) = U(i, j, k) * P(j, m) * Q(k, m)";
  const std::string vectorize = "\nschedule\n  vectorize(k)";
  const std::string substitute = "\nschedule\n  reorder({k, i, j})\n  substitute({i, j}, ger)";
  const std::string workspace = "\nschedule\n  precompute(B(i, k) * C(k, j), {j}, {jw}, W)";
  std::string out;
  for (const LeafPlan& plan :
       {planned(gemm), planned(gemm, "n=8"), planned(gemm + vectorize), planned(mttkrp), planned(mttkrp, "n=8"),
        planned("x(i) = A(i, j) * y(j) - B(i, j) + y(i)"), planned("A(i, j) += B(i, k) * C(k, j)" + substitute),
        planned(gemm, "", LeafChoice::Interpreted), planned(gemm, "", LeafChoice::Strict),
        planned(gemm, "", LeafChoice::Loops), planned(gemm, "", LeafChoice::Generated),
        planned("a = x(i) * y(i)", "n=8"), planned("A(i, j) = B(i, k) * B(j, k)")}) {
    out += to_string(plan) + "\n";
  }
  test::expect_golden("leaf/plans.txt", out);
}

TEST(LeafPlan, Compares) {
  const std::string gemm = "A(i, j) = B(i, k) * C(k, j)";
  EXPECT_EQ(planned(gemm), planned(gemm));
  EXPECT_NE(planned(gemm), planned(gemm, "n=1024")) << "other extents";
  EXPECT_NE(planned(gemm), planned("A(i, j) = B(k, i) * C(k, j)"));
  EXPECT_NE(planned(gemm, "n=8"), planned(gemm));
  EXPECT_NE(planned(gemm, "", LeafChoice::Strict), planned(gemm, "", LeafChoice::Loops));
}

// At all sizes and types, a GPU has cuBLAS for products of matrices and a kernel for all other leaves.
TEST(LeafPlan, OfAGpu) {
  auto on_gpu = [](const std::string& statement, ElementType type = ElementType::Double) {
    Plan plan = test::plan_text(kTensors + statement + "\n", "");
    return explanation(choose_leaf(plan.stages[0], type, LeafChoice::Automatic, Processor::GPU));
  };
  const std::string along_j = "a CUDA kernel with neighbouring threads along j";
  const std::string teams = "a CUDA kernel whose threads add along j in teams";
  EXPECT_EQ(on_gpu("A(i, j) = B(i, k) * C(k, j)"),
            "A(i, j) = B(i, k) * C(k, j): cuBLAS; where it does not take the strides, " + along_j + "\n");
  EXPECT_EQ(on_gpu("A(i, j) = B(i, k) * C(k, j)", ElementType::Int32),
            "A(i, j) = B(i, k) * C(k, j): " + along_j + "; no library, because there is no BLAS for integers\n");
  EXPECT_EQ(on_gpu("x(i) = A(i, j) * y(j)"), "x(i) = A(i, j) * y(j): " + teams + "\n");
  EXPECT_EQ(on_gpu("x(j) = A(i, j) * y(i)"), "x(j) = A(i, j) * y(i): " + along_j + "\n");
  EXPECT_EQ(on_gpu("x(i) = A(i, j) * y(j) + y(i)"), "x(i) = A(i, j) * y(j) + y(i): " + teams + "\n");
  EXPECT_EQ(on_gpu("A(i, j) = B(i, k) * C(k, j) * x(i)"),
            "A(i, j) = B(i, k) * C(k, j) * x(i): cuBLAS for B * C in steps along i, then a CUDA kernel for the rest; "
            "where that does not fit, a CUDA kernel with neighbouring threads along j\n");
  EXPECT_EQ(on_gpu("A(i, j) = B(i, j) * C(i, j) + 2"), "A(i, j) = B(i, j) * C(i, j) + 2: " + along_j + "\n");
  EXPECT_EQ(on_gpu("machine M = Grid(3)\nx(i) = A(i, j) * y(j)\nschedule\n  collapse(i, j, f)\n  divide(f, fo, fi, 3)\n"
                   "  distribute(fo)\n  communicate({x, A, y}, fo)"),
            "x(i) = A(i, j) * y(j): a CUDA kernel, one thread for each point of the output's loops; no library, "
            "because its loops do not run over a box\n");
  EXPECT_EQ(
      on_gpu("A(i, j) = B(i, k) * C(k, j)\nschedule\n  precompute(B(i, k) * C(k, j), {j}, {jw}, W)"),
      "A(i, j) = B(i, k) * C(k, j): a CUDA kernel whose blocks of threads have workspaces of their own; no library, "
      "because it has workspaces\n");
}

// What runs is what the plan says, for every kind of plan.
TEST(LeafPlan, IsWhatRuns) {
  const std::string text =
      "tensor A(7, 5)\ntensor B(7, 6)\ntensor C(6, 5)\nA(i, j) = B(i, k) * C(k, j)\nschedule\n  reorder({i, k, j})\n";
  Plan plan = test::plan_text(text, "");
  const StagePlan& stage = plan.stages[0];
  LeafPlan found = choose_leaf(stage, ElementType::Double);
  auto& box = std::get<BoxPlan>(found.how);
  EXPECT_EQ(make_leaf(stage, ElementType::Double, found)->description(), "BLAS");
  ASSERT_EQ(box.others.size(), 1U);
  EXPECT_EQ(make_leaf(stage, ElementType::Double, box.others[0])->description(), "interpreted");
  box.passes[0].kernels = {BoxKernelKind::PlainLoops};
  box.passes[0].expected = 0;
  Leaves leaves;
  leaves.push_back(make_leaf(stage, ElementType::Double, found));
  EXPECT_EQ(leaves[0]->description(), "plain loops: no BLAS for such strides");
}

}  // namespace
}  // namespace distal::core
