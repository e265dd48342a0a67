// Leaves whose loops run over a box: the choice of the kernel, and the results for many sizes, layouts and numbers of
// threads.

#include "leaf/box.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "leaf/blocked.h"
#include "leaf/blocked_source.h"
#include "leaf/choose_leaf.h"
#include "leaf/compile.h"
#include "leaf/streamed_source.h"
#include "support/cache_folder.h"
#include "support/golden.h"
#include "support/run.h"

namespace distal::core {
namespace {

using test::run_text;
using test::RunOptions;

// A cache of compiled leaves that later test runs use again.
std::string cache() { return fmt::format("{}distal-leaf-test-{}", testing::TempDir(), geteuid()); }

RunOptions generated(ElementType type, int threads = 1) {
  RunOptions options;
  options.type = type;
  options.leaf = LeafChoice::Generated;
  options.threads = threads;
  return options;
}

std::string order(bool transposed) { return transposed ? " order(1, 0)\n" : "\n"; }

std::string product(int64_t rows, int64_t columns, int64_t sums, int orders) {
  return fmt::format("tensor A({0}, {1}){3}tensor B({0}, {2}){4}tensor C({2}, {1}){5}A(i, j) = B(i, k) * C(k, j)\n",
                     rows, columns, sums, order(orders & 1), order(orders & 2), order(orders & 4));
}

// ---- register blocks ----

class Widths : public testing::TestWithParam<ElementType> {};

TEST_P(Widths, EveryNumberOfColumns) {
  test::CacheFolder folder(cache());
  for (int64_t columns = 1; columns <= 70; ++columns) {
    SCOPED_TRACE(columns);
    run_text(product(13, columns, 9, static_cast<int>(columns) % 8), "", generated(GetParam()));
  }
}

TEST_P(Widths, EveryNumberOfRows) {
  test::CacheFolder folder(cache());
  for (int64_t rows = 1; rows <= 20; ++rows) run_text(product(rows, 33, 5, 0), "", generated(GetParam()));
  run_text(product(200, 3, 5, 5), "", generated(GetParam()));
}

TEST_P(Widths, SumsAndColumnsOfSeveralBlocks) {
  test::CacheFolder folder(cache());
  for (int64_t sums : {1, 3, 4, 8, 511, 513, 1100}) {
    for (int orders : {0, 3, 6}) run_text(product(7, 12, sums, orders), "", generated(GetParam()));
  }
  run_text(product(5, 700, 600, 0), "", generated(GetParam()));
  run_text(product(20, 100, 200, 0), "", generated(GetParam()));  // all panels stay in the cache
}

TEST_P(Widths, OnSeveralThreads) {
  test::CacheFolder folder(cache());
  for (int threads : {2, 3, 5}) {
    run_text(product(90, 90, 90, 0), "", generated(GetParam(), threads));
    run_text(product(1, 40, 14000, 4), "", generated(GetParam(), threads));
    run_text(product(2, 3, 90000, 1), "", generated(GetParam(), threads));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Widths,
                         testing::Values(ElementType::Double, ElementType::Float, ElementType::Int32,
                                         ElementType::Int64, ElementType::ComplexDouble),
                         [](const auto& tested) {
                           std::string name = to_string(tested.param);
                           std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
                           return name;
                         });

// Products of three and four tensors, with their factors in different orders.
TEST(Blocks, FurtherFactors) {
  test::CacheFolder folder(cache());
  const std::vector<std::string> statements{"A(i, l) = B(i, j, k) * C(j, l) * D(k, l)",
                                            "A(i, l) = C(j, l) * D(k, l) * B(i, j, k)",
                                            "A(i, l) = D(k, l) * B(i, j, k) * -C(j, l)",
                                            "A(l, i) = D(k, l) * 2 * C(j, l) * B(i, j, k)",
                                            "A(i, l) = E(i) * C(i, k) * D(k, l) * F(l, i)",
                                            "A(i, l) = C(i, k) * E(i) * D(k, l) * E(l) - F(i, l)",
                                            "A(i, l) += F(i, l) * C(i, k) * D(k, l)",
                                            "A(i, i) = C(i, k) * D(k, l) * F(i, l)",
                                            "A(i, l) = C(i, k) * C(l, k)"};
  for (const std::string& statement : statements) {
    for (int orders = 0; orders < 4; ++orders) {
      SCOPED_TRACE(statement + " " + std::to_string(orders));
      std::string text = fmt::format(
          "tensor A(15, 15){0}tensor B(15, 15, 15) order({2})\ntensor C(15, 15){1}tensor D(15, 15){0}tensor E(15)\n"
          "tensor F(15, 15){1}{3}\n",
          order(orders & 1), order(orders & 2), orders == 1 ? "2, 0, 1" : "0, 1, 2", statement);
      run_text(text, "", generated(ElementType::Double));
      run_text(text, "", generated(ElementType::Int64, 4));
    }
  }
}

TEST(Blocks, StraightToTheOutput) {
  test::CacheFolder folder(cache());
  // Whole blocks, alone and next to partial blocks. Sums in one pass, which overwrites the output, and in several
  // passes, which add to it after the first. And rows that all add to the same part of the output.
  for (const char* size : {"ni=12,nj=32,nk=40", "ni=13,nj=40,nk=600", "ni=6,nj=16,nk=1030", "ni=100,nj=72,nk=513"}) {
    for (const char* statement :
         {"A(i, j) = 2 * B(i, k) * C(k, j)", "A(i, j) += -B(i, k) * C(k, j)", "D(j) = B(i, k) * C(k, j)"}) {
      for (int orders = 0; orders < 2; ++orders) {
        SCOPED_TRACE(fmt::format("{} {} {}", statement, size, orders));
        std::string text = fmt::format(
            "param ni = 1, nj = 1, nk = 1\ntensor A(ni, nj){}tensor B(ni, nk)\ntensor C(nk, nj)\n"
            "tensor D(nj)\n{}\n",
            order(orders), statement);
        run_text(text, size, generated(ElementType::Double));
        run_text(text, size, generated(ElementType::Float));
        run_text(text, size, generated(ElementType::Int64, 3));
      }
    }
  }
}

// Steps of a sum whose operands are views of other processors' pieces. Register blocks join the steps into one sum over
// pieces at unrelated addresses.
TEST(Blocks, StepsThatAreJoined) {
  test::CacheFolder folder(cache());
  const std::string steps = R"(
schedule
  distribute(i, io, ii, M)
  divide(k, ko, ki, g)
  reorder(io, ko, ii, j, ki)
  rotate(ko, io, kos)
  communicate(A, io)
  communicate({B, C}, kos)
)";
  const std::vector<std::string> sizes{"ni=13,nj=33,nk=50,g=4", "ni=7,nj=9,nk=23,g=5", "ni=9,nj=40,nk=600,g=3",
                                       "ni=12,nj=17,nk=1000,g=2", "ni=40,nj=5,nk=80,g=20"};
  for (const std::string& size : sizes) {
    for (int orders = 0; orders < 8; ++orders) {
      SCOPED_TRACE(size + " " + std::to_string(orders));
      // With B distributed by rows only C is read from other processors; by columns, B is too.
      for (const char* placed : {": xy -> x on M", ": xy -> y on M"}) {
        std::string text = fmt::format(
            "param ni = 1, nj = 1, nk = 1, g = 1\nmachine M = Grid(g)\ntensor A(ni, nj) : xy -> x on M{}"
            "tensor B(ni, nk) {}{}tensor C(nk, nj) : xy -> x on M{}A(i, j) = B(i, k) * C(k, j)\n",
            order(orders & 1), placed, order(orders & 2), order(orders & 4));
        run_text(text + steps, size, generated(ElementType::Double));
        run_text(text + steps, size, generated(ElementType::Int32, 40));
      }
    }
  }
}

// A box of rows, columns and a sum, with a third factor.
Box box_at(int64_t output, int64_t left, int64_t right, int64_t factor, int64_t rows = 9, int64_t sums = 30) {
  auto at = [](int64_t bytes) { return reinterpret_cast<std::byte*>(4096 + bytes); };
  Box box;
  box.axes = {{rows, {8, 100, 0, 8}}, {8, {1, 0, 1, 1}}, {sums, {0, 1, 8, 0}}};
  box.set_data({at(output), at(left), at(right), at(factor)});
  return box;
}

TEST(Blocks, WhatCanBeJoined) {
  Plan plan = test::plan_text("tensor A(9, 9)\ntensor B(9, 9)\nA(i, j) = B(i, k) * B(k, j) * B(i, j)\n");
  auto kernel = make_blocked_kernel(leaf_of(*plan.stages[0].stage).root.compute()->terms[0], ElementType::Double);
  const Box box = box_at(0, 0, 0, 0);
  EXPECT_TRUE(kernel->can_join(box, box_at(0, 240, -80000, 0)));
  EXPECT_TRUE(kernel->can_join(box, box_at(0, 240, 8000, 0, 9, 17)));
  EXPECT_FALSE(kernel->can_join(box, box_at(8, 240, 8000, 0))) << "another part of the output";
  EXPECT_FALSE(kernel->can_join(box, box_at(0, 240, 8000, 8))) << "another factor";
  EXPECT_FALSE(kernel->can_join(box, box_at(0, 240, 8000, 0, 8))) << "fewer rows";
  EXPECT_FALSE(kernel->can_join(box, box_at(0, 244, 8000, 0))) << "half an element away";
  EXPECT_TRUE(kernel->can_join(box, box_at(0, 240, 8000, 0, 9, kBlockedSums - 30)));
  EXPECT_FALSE(kernel->can_join(box, box_at(0, 240, 8000, 0, 9, kBlockedSums - 29))) << "the sum would be too long";
  Box wider = box_at(0, 240, 8000, 0);
  wider.axes[2].strides[2] = 9;
  EXPECT_FALSE(kernel->can_join(box, wider)) << "other strides";
  wider.axes.pop_back();
  EXPECT_FALSE(kernel->can_join(box, wider)) << "no sum";
}

// A schedule with steps of k in a sum over k and j. Each step acquires B and `others`.
std::string in_steps(const std::string& others) {
  const std::string loops = R"(
schedule
  distribute(i, io, ii, M)
  divide(k, ko, ki, g)
  reorder({io, ko, ii, l, j, ki})
  rotate(ko, io, kos)
  communicate(A, io)
)";
  return loops + "  communicate({B, " + others + "}, kos)\n";
}

// The third factor may be the same in every step or not, and the sum may have several indices.
TEST(Blocks, StepsOfHigherOrderThatAreJoined) {
  test::CacheFolder folder(cache());
  const std::string tensors = R"(
param n = 12, g = 3
machine M = Grid(g)
tensor A(n, n) : xy -> x on M
tensor B(n, n, n) : xyz -> x on M
tensor C(n, n) : xy -> x on M
tensor D(n, n) : xy -> x on M
tensor E(n, n, n) : xyz -> x on M
)";
  for (auto [statement, others] :
       {std::pair("A(i, l) = B(i, j, k) * C(j, l) * D(k, l)", "C, D"),
        std::pair("A(i, l) = B(i, k, j) * C(k, l) * D(j, l)", "C, D"),
        std::pair("A(i, l) = B(i, k, j) * C(k, j) * D(i, l)", "C, D"),
        std::pair("A(i, l) = B(i, j, k) * E(k, j, l)", "E"), std::pair("A(i, l) = B(i, k, j) * E(j, l, k)", "E")}) {
    SCOPED_TRACE(statement);
    for (const char* size : {"n=12,g=3", "n=17,g=4"}) {
      run_text(tensors + statement + in_steps(others), size, generated(ElementType::Double));
      run_text(tensors + statement + in_steps(others), size, generated(ElementType::Float, 8));
    }
  }
}

// The best two factors to multiply as matrices may differ for a part of the output or for a short step. Joined steps
// must use the same two.
TEST(Blocks, JoinedStepsHaveOneBlocking) {
  test::CacheFolder folder(cache());
  const std::string text = R"(
param ni = 32, nj = 16, nk = 128, nl = 128, g = 2
machine M = Grid(g)
tensor A(ni, nl) : xy -> x on M
tensor B(ni, nk, nj) : xyz -> x on M
tensor C(nj, nl)
tensor D(nk, nl) : xy -> x on M
A(i, l) = B(i, k, j) * C(j, l) * D(k, l))" +
                           in_steps("C, D");
  for (int threads : {1, 8}) {
    run_text(text, "", generated(ElementType::Double, threads));
    run_text(text, "ni=8,nj=48,nk=89,nl=64,g=8", generated(ElementType::Double, threads));
  }
}

// Many threads share the sum, and the last step has too few terms for all of them.
TEST(Blocks, JoinedStepsOfWhichOneIsShort) {
  test::CacheFolder folder(cache());
  const std::string text = R"(
machine M = Grid(2)
tensor A(30, 15) : xy -> x on M
tensor B(30, 3088) : xy -> x on M
tensor C(3088, 15)
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute(i, io, ii, M)
  split(k, ko, ki, 220)
  reorder({io, ko, ii, j, ki})
  communicate(A, io)
  communicate({B, C}, ko)
)";
  for (int threads : {1, 4, 32}) run_text(text, "", generated(ElementType::Double, threads));
}

// For which leaves engines join steps.
TEST(Blocks, GainBySeveralSteps) {
  test::CacheFolder folder(cache());
  auto gains = [](const std::string& chunk, LeafChoice choice) {
    Plan plan = test::plan_text(test::algorithm_text("summa"), "ni=400,nj=400,nk=30000,gx=1,gy=1,chunk=" + chunk);
    return make_leaf(plan.stages[0], ElementType::Double, choice)->gains_from_joining();
  };
  for (LeafChoice choice : {LeafChoice::Generated, LeafChoice::Automatic}) {
    EXPECT_TRUE(gains("256", choice));
    EXPECT_FALSE(gains("257", choice));
  }
  EXPECT_FALSE(gains("256", LeafChoice::Strict));
  EXPECT_FALSE(gains("256", LeafChoice::Interpreted));
}

TEST(Blocks, ContractionsOfManyIndices) {
  test::CacheFolder folder(cache());
  const std::string tensors = "tensor A(6, 5, 7, 4)\ntensor B(6, 3, 7, 8)\ntensor C(3, 5, 8, 4)\n";
  for (const std::string statement :
       {"A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)", "A(a, b, i, j) = C(c, b, k, j) * B(a, c, i, k)",
        "A(a, b, i, j) = 3 * C(c, b, k, j) * B(a, c, i, k) - B(a, c, i, k)"}) {
    run_text(tensors + statement + "\n", "", generated(ElementType::Float));
    run_text(tensors + statement + "\n", "", generated(ElementType::Double, 3));
  }
}

// ---- one pass ----

// Sizes within one tile, of several tiles with remainders, and with many short rows.
TEST(OnePass, EveryTraversalOfAPlane) {
  test::CacheFolder folder(cache());
  const std::string tensors =
      "param m = 37, n = 29\ntensor a\ntensor v(m)\ntensor w(n)\ntensor A(m, n)\ntensor B(m, n)\ntensor C(n, m)\n"
      "tensor D(m, n) order(1, 0)\ntensor T(5, m, n)\n";
  for (const std::string statement :
       {"A(i, j) = B(i, j) + C(j, i)", "A(i, j) = B(i, j) * w(j) + v(i)", "A(i, j) = 2 * D(i, j) - v(i) * w(j)",
        "D(i, j) = B(i, j) * C(j, i)", "v(i) = B(i, j) * w(j)", "w(j) = B(i, j) * v(i)", "w(j) = D(i, j) * v(i)",
        "a = B(i, j) * C(j, i) * D(i, j)", "a = v(i) * w(j)", "v(i) = C(j, i) + v2(i)", "a = T(l, i, j) * A(i, j)",
        "A(i, j) = T(l, i, j)", "A(i, j) += T(l, i, j) * v(i) - 1", "v(i) = B(i, j) * D(i, j) - w(j) + 3"}) {
    SCOPED_TRACE(statement);
    std::string text = tensors + "tensor v2(m)\n" + statement + "\n";
    for (ElementType type : {ElementType::Double, ElementType::Int32, ElementType::ComplexFloat}) {
      for (const std::string settings : {"", "m=150,n=203", "m=530,n=9"}) run_text(text, settings, generated(type));
    }
  }
}

TEST(OnePass, LongSums) {
  test::CacheFolder folder(cache());
  for (int threads : {1, 2, 3}) {
    for (int n : {1023, 1024, 4099, 600001}) {
      std::string tensors = fmt::format("tensor a\ntensor b({0})\ntensor c({0})\n", n);
      for (const std::string statement : {"a = b(i) * c(i) * b(i)\n", "a = 2 * b(i)\n"}) {
        run_text(tensors + statement, "", generated(ElementType::Double, threads));
      }
    }
  }
}

// Only large outputs use non-temporal stores. The test calls that code for a small output, at several alignments.
TEST(OnePass, NonTemporalStores) {
  test::CacheFolder folder(cache());
  constexpr int64_t nx = 203, ny = 71, wide = 300;
  Plan plan = test::plan_text("tensor A(9, 9)\ntensor B(9, 9)\ntensor C(9, 9)\nA(i, j) = B(i, j) - C(i, j) * 2\n", "");
  const auto& terms = leaf_of(*plan.stages[0].stage).root.compute()->terms;
  std::vector<double> b(wide * wide), c(wide * wide);
  for (size_t x = 0; x < b.size(); ++x) b[x] = static_cast<double>(x % 17), c[x] = static_cast<double>(x % 5);
  for (StrideKind stride : {StrideKind::Unit, StrideKind::Large}) {
    PlaneShape shape{{StrideKind::Unit, StrideKind::Unit, stride}, {true, true, true}, false, true};
    CompiledLeaf code = compile_leaf(plane_source(terms, ElementType::Double, shape), {.reassociate = true});
    int64_t cx = stride == StrideKind::Unit ? 1 : wide, cy = stride == StrideKind::Unit ? wide : 1;
    for (int64_t first : {0, 1, 5}) {
      std::vector<double> a(wide * wide, -1), expected = a;
      for (int64_t y = 0; y < ny; ++y) {
        for (int64_t x = 0; x < nx; ++x) {
          expected[first + y * wide + x] = b[y * wide + x] - c[y * cy + x * cx] * 2;
        }
      }
      void* data[] = {a.data() + first, b.data(), c.data()};
      const int64_t stride_x[] = {1, 1, cx}, stride_y[] = {wide, wide, cy};
      code.function<PlaneFunction>()(nx, ny, data, stride_x, stride_y);
      EXPECT_EQ(a, expected) << first;
    }
  }
}

TEST(OnePass, Sources) {
  auto source = [](const std::string& statement, const PlaneShape& shape) {
    Plan plan = test::plan_text("tensor a\ntensor v(9)\ntensor A(9, 9)\ntensor B(9, 9)\n" + statement + "\n", "");
    return plane_source(leaf_of(*plan.stages[0].stage).root.compute()->terms, ElementType::Double, shape);
  };
  using enum StrideKind;
  test::expect_golden("leaf/plane_sum.txt",
                      source("v(i) = A(i, j) * B(i, j)", {{Zero, Unit, Unit}, {true, true, true}}));
  test::expect_golden("leaf/plane_past_cache.txt",
                      source("A(i, j) = B(i, j) - v(j) * 2", {{Unit, Unit, Unit}, {true, true, false}, false, true}));
  test::expect_golden("leaf/plane_tiles.txt", source("A(i, j) = B(j, i)", {{Unit, Large}, {true, true}, false, false}));
}

// ---- symmetric products ----

TEST(Symmetric, HalfIsMultipliedAndMirrored) {
  const std::string rows = "tensor A(520, 520)\ntensor B(520, 2)\n";
  const std::string columns = "tensor A(520, 520) order(1, 0)\ntensor B(520, 2) order(1, 0)\n";
  for (const auto& [text, type] :
       {std::pair{rows + "A(i, j) =", ElementType::Double}, std::pair{rows + "A(i, j) +=", ElementType::ComplexFloat},
        std::pair{columns + "A(i, j) =", ElementType::ComplexFloat},
        std::pair{columns + "A(i, j) +=", ElementType::Double}}) {
    RunOptions options;
    options.type = type;
    test::TestRun run(text + " 2 * B(i, k) * B(j, k)\n", "", options);
    run.run_and_check();
    EXPECT_EQ(run.leaf_names()[0], "symmetric product (BLAS)");
  }
}

TEST(Symmetric, NotWhereRowsAndColumnsDiffer) {
  test::CacheFolder folder(cache());
  RunOptions options;
  run_text(
      "machine M = Grid(2, 2)\ntensor A(1030, 1030) : xy -> xy on M\ntensor B(1030, 2) : xy -> x* on M\n"
      "A(i, j) = B(i, k) * B(j, k)\nschedule\n  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  communicate({A, B}, jo)\n",
      "", options);
  run_text("tensor A(520, 520)\ntensor B(520, 2)\ntensor C(520, 2)\nA(i, j) = B(i, k) * C(j, k)\n", "", options);
}

// ---- the choice ----

std::string explained(const std::string& statement, ElementType type = ElementType::Double) {
  std::string text =
      "param n = 4096, l = 64\ntensor a\ntensor x(n)\ntensor A(n, n)\ntensor B(n, n)\ntensor C(n, n)\ntensor D(n, n)\n"
      "tensor T(n, n, l)\ntensor U(n, n, n)\ntensor P(n, l)\ntensor Q(n, l)\ntensor R(n, l)\ntensor y(n)\n" +
      statement + "\n";
  std::string out = explanation(choose_leaf(test::plan_text(text, "").stages[0], type));
  return out.substr(out.find(": ") + 2);
}

TEST(Choice, IsExplained) {
  EXPECT_EQ(explained("A(i, j) = B(i, k) * C(k, j)"), "gemm by BLAS\n");
  EXPECT_EQ(explained("A(i, j) = 2 * C(k, i) * B(k, j)"), "gemm by BLAS\n");
  EXPECT_EQ(explained("A(i, j) = B(k, i) * B(k, j)"), "syrk: one half by BLAS gemm, the other half mirrored\n");
  EXPECT_EQ(explained("A(i, j) = B(i, k) * C(k, j)", ElementType::Int64),
            "B(i, k) times C(k, j) in register blocks; no library, because there is no BLAS for integers\n");
  EXPECT_EQ(explained("T(i, j, m) = U(i, j, k) * P(k, m)"),
            "U(i, j, k) times P(k, m) in register blocks; gemm by BLAS would be slower\n");
  EXPECT_EQ(explained("R(i, m) = U(i, j, k) * P(j, m) * Q(k, m)"),
            "U(i, j, k) times Q(k, m) in register blocks, each block times P(j, m) as it is added, no temporary; "
            "no library, because U(i, j, k) * P(j, m) * Q(k, m) is not a product of two tensors\n");
  EXPECT_EQ(explained("x(i) = A(i, j) * y(j)"), "in one pass; gemv by BLAS would be slower\n");
  EXPECT_EQ(explained("A(i, j) = B(i, j) + C(j, i)"), "2 terms in one pass\n");
  EXPECT_EQ(explained("A(i, j) = B(i, k) * C(k, j) + D(i, j)"),
            "gemm by BLAS; then in one pass; no library, because D(i, j) is not a product of two tensors\n");
}

TEST(Choice, StrictKeepsTheOrderOfTheLoops) {
  test::CacheFolder folder(cache());
  std::string text = "tensor a\ntensor b(3000)\ntensor c(3000)\na = b(i) * c(i)\n";
  RunOptions options;
  options.leaf = LeafChoice::Strict;
  options.integer_valued = false;
  test::TestRun strict(text, "", options);
  strict.run_and_check();
  options.leaf = LeafChoice::Interpreted;
  test::TestRun one_by_one(text, "", options);
  one_by_one.run_and_check();
  EXPECT_TRUE(strict.store().gather(0) == one_by_one.store().gather(0));
}

}  // namespace
}  // namespace distal::core
