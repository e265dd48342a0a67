#include "bound/lower_bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace distal::core {
namespace {

using Array = BoxProblem::Array;

constexpr int64_t kDouble = 8;

// Every array is spread evenly over all processors.
BoxProblem spread(std::vector<int64_t> extents, std::vector<Array> arrays, int64_t processors) {
  BoxProblem problem;
  for (size_t d = 0; d < extents.size(); ++d) problem.indices.push_back({std::string(1, "ijklm"[d]), extents[d]});
  BoxProblem::Group all{processors, {}};
  for (const Array& array : arrays) {
    int64_t elements = 1;
    for (int d : array.accesses[0]) elements *= extents[static_cast<size_t>(d)];
    all.own.push_back(elements / processors);
  }
  problem.arrays = std::move(arrays);
  problem.groups = {all};
  problem.element_bytes = kDouble;
  return problem;
}

BoxProblem gemm(int64_t ni, int64_t nj, int64_t nk, int64_t processors) {
  return spread({ni, nj, nk}, {{"A", {{0, 1}}}, {"B", {{0, 2}}}, {"C", {{2, 1}}}}, processors);
}

// ---- the definition, by nested search ----

// The elements that a box touches beyond those that the processor owns.
double exchange_of(const BoxProblem& problem, const BoxProblem::Group& group, const std::vector<double>& log_box) {
  double sum = 0;
  for (size_t t = 0; t < problem.arrays.size(); ++t) {
    double most = 0;
    for (const std::vector<int>& access : problem.arrays[t].accesses) {
      double elements = 0;
      for (int d : access) elements += log_box[static_cast<size_t>(d)];
      most = std::max(most, std::exp(elements));
    }
    sum += std::max(0.0, most - static_cast<double>(group.own[t]));
  }
  return sum;
}

constexpr double kNone = -1e9;

// The logarithm of the largest box within an exchange, whose first sides are given. It is concave in each further side.
double largest_box(const BoxProblem& problem, const BoxProblem::Group& group, double exchange,
                   std::vector<double>& log_box) {
  double low = 0, high = std::log(static_cast<double>(problem.indices[log_box.size()].extent));
  bool last = log_box.size() + 1 == problem.indices.size();
  auto at = [&](double side) {
    log_box.push_back(side);
    bool fits = !last || exchange_of(problem, group, log_box) <= exchange * (1 + 1e-12);
    double rest = !fits ? kNone : last ? 0 : largest_box(problem, group, exchange, log_box);
    log_box.pop_back();
    return rest < 0 ? kNone : side + rest;
  };
  if (at(0) < 0) return kNone;
  if (last && at(high) >= 0) return high;
  for (int i = 0; i < 32; ++i) {
    double a = last ? (low + high) / 2 : low + (high - low) * 0.382, b = low + (high - low) * 0.618;
    bool go_up = last ? at(a) >= 0 : at(a) < at(b);
    (go_up ? low : high) = go_up || last ? a : b;
  }
  return std::max(at(low), at(high));
}

// The points that all processors can compute within an exchange, as a part of all points.
double computed_part(const BoxProblem& problem, double exchange) {
  double sum = 0;
  for (const BoxProblem::Group& group : problem.groups) {
    std::vector<double> log_box;
    double log_points = largest_box(problem, group, exchange, log_box);
    if (log_points < 0) continue;
    sum += static_cast<double>(group.processors) * std::exp(log_points) / static_cast<double>(problem.points());
  }
  return sum;
}

// The least exchange with which all points can be computed, in elements.
double least_exchange(const BoxProblem& problem) {
  double low = 0, high = 1;
  if (computed_part(problem, 0) >= 1 - 1e-9) return 0;
  while (computed_part(problem, high) < 1 - 1e-9) high *= 2;
  for (int i = 0; i < 45; ++i) {
    double middle = (low + high) / 2;
    (computed_part(problem, middle) < 1 - 1e-9 ? low : high) = middle;
  }
  return high;
}

double elements(const Proof& proof) { return static_cast<double>(proof.bytes) / kDouble; }

// ---- known cases ----

// Al Daas, Ballard, Grigori, Kumar and Rouse: three regimes, by the largest two extents and the processors.
TEST(Gemm, LargeExtentIsCutAlone) {
  BoxProblem problem = gemm(65536, 64, 64, 64);
  EXPECT_EQ(elements(lower_bound(problem)), 64 * 64 - 64.0 * 64 / 64);
}

TEST(Gemm, TwoExtentsAreCut) {
  // B and C are cut into panels of 512 rows and columns; A stays.
  BoxProblem problem = gemm(4096, 4096, 64, 64);
  EXPECT_EQ(elements(lower_bound(problem)), 2 * (512 * 64 - 4096));
}

TEST(Gemm, AllExtentsAreCut) {
  BoxProblem problem = gemm(4096, 4096, 4096, 64);
  EXPECT_EQ(elements(lower_bound(problem)), 3 * (1024 * 1024 - 4096 * 4096 / 64));
}

TEST(Gemm, TheProofIsShort) {
  BoxProblem problem = gemm(4096, 4096, 4096, 64);
  EXPECT_EQ(to_string(problem, lower_bound(problem)),
            "some processor exchanges at least 18874368 bytes, in elements of 8 bytes\n"
            "points of all processors: 68719476736 of i 4096, j 4096, k 4096\n"
            "64 processors own: A 262144, B 262144, C 262144\n"
            "  points <= A(i, j)^(1/2) * B(i, k)^(1/2) * C(k, j)^(1/2)\n"
            "  at A 1048576, B 1048576, C 1048576: at most 1073741824 points\n");
}

// Ballard, Knight and Rouse: the tensor stays, and three factors move.
TEST(Mttkrp, FactorsMove) {
  BoxProblem problem =
      spread({1024, 1024, 1024, 16}, {{"A", {{0, 3}}}, {"B", {{0, 1, 2}}}, {"C", {{1, 3}}}, {"D", {{2, 3}}}}, 64);
  EXPECT_EQ(elements(lower_bound(problem)), 3 * (256 * 16 - 1024 * 16 / 64));
}

TEST(MatrixVector, VectorsMove) {
  BoxProblem problem = spread({4096, 4096}, {{"a", {{0}}}, {"B", {{0, 1}}}, {"c", {{1}}}}, 64);
  EXPECT_EQ(elements(lower_bound(problem)), 2 * (512 - 64));
}

TEST(Ttm, TheMatrixMoves) {
  BoxProblem problem = spread({4096, 64, 64, 16}, {{"A", {{0, 1, 3}}}, {"B", {{0, 1, 2}}}, {"C", {{2, 3}}}}, 64);
  EXPECT_EQ(elements(lower_bound(problem)), 64 * 16 - 16);
}

TEST(Ttv, TheVectorMoves) {
  BoxProblem problem = spread({64, 64, 64}, {{"A", {{0, 1}}}, {"B", {{0, 1, 2}}}, {"c", {{2}}}}, 64);
  EXPECT_EQ(elements(lower_bound(problem)), 64 - 1);
}

// ---- who computes what ----

TEST(Groups, OneProcessorNeedsNothing) { EXPECT_EQ(lower_bound(gemm(64, 64, 64, 1)).bytes, 0); }

TEST(Groups, AProcessorThatOwnsNothingOfAScalarSendsOne) {
  BoxProblem problem = spread({1000}, {{"a", {{}}}, {"b", {{0}}}, {"c", {{0}}}}, 4);
  problem.groups = {{1, {1, 250, 250}}, {3, {0, 250, 250}}};
  EXPECT_EQ(lower_bound(problem).bytes, kDouble);
}

// One processor has everything. The others together need half of it, or it does the work alone.
TEST(Groups, OneProcessorHasAll) {
  BoxProblem problem = spread({64, 64, 64}, {{"A", {{0, 1}}}, {"B", {{0, 2}}}, {"C", {{2, 1}}}}, 4);
  problem.groups = {{1, {4096, 4096, 4096}}, {3, {0, 0, 0}}};
  EXPECT_EQ(lower_bound(problem).bytes, 0);
  problem.groups = {{1, {4096, 4096, 0}}, {1, {0, 0, 4096}}};
  EXPECT_NEAR(elements(lower_bound(problem)), least_exchange(problem), 0.2);
}

// A product of a matrix with its own transpose needs less than that of two matrices.
TEST(Groups, ATensorThatOccursTwiceCountsOnce) {
  BoxProblem twice = spread({1024, 1024, 1024}, {{"A", {{0, 1}}}, {"B", {{0, 2}, {1, 2}}}}, 64);
  int64_t once = lower_bound(twice).bytes;
  EXPECT_NEAR(static_cast<double>(once) / kDouble, least_exchange(twice), 1);
  EXPECT_LT(once, lower_bound(gemm(1024, 1024, 1024, 64)).bytes);
}

// ---- random problems ----

BoxProblem random_problem(std::mt19937& random) {
  auto up_to = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)) + 1; };
  BoxProblem problem;
  problem.element_bytes = kDouble;
  int dimensions = static_cast<int>(up_to(3));
  for (int d = 0; d < dimensions; ++d) problem.indices.push_back({std::string(1, "ijk"[d]), up_to(40)});
  int64_t arrays = 1 + up_to(3);
  for (int64_t t = 0; t < arrays; ++t) {
    Array array{std::string(1, "ABCD"[t]), {}};
    for (int64_t a = random() % 4 == 0 ? 2 : 1; a > 0; --a) {
      std::vector<int>& access = array.accesses.emplace_back();
      for (int d = 0; d < dimensions; ++d) {
        if (random() % 3 > 0) access.push_back(d);
      }
    }
    problem.arrays.push_back(array);
  }
  for (int64_t groups = up_to(3); groups > 0; --groups) {
    BoxProblem::Group& group = problem.groups.emplace_back();
    group.processors = up_to(10);
    for (int64_t t = 0; t < arrays; ++t) group.own.push_back(random() % 4 == 0 ? 0 : up_to(random() % 2 ? 20 : 500));
  }
  return problem;
}

// The proof is exact by itself; here the bound is compared with the definition, from both sides.
TEST(Random, TheBoundIsThatOfTheDefinition) {
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    BoxProblem problem = random_problem(random);
    double want = least_exchange(problem);
    Proof proof = lower_bound(problem);
    EXPECT_LE(elements(proof), want * (1 + 1e-5) + 1e-5) << i << "\n" << to_string(problem, proof);
    EXPECT_GE(elements(proof), want * (1 - 1e-5) - 1.0 / kDouble - 1e-6) << i << "\n" << to_string(problem, proof);
  }
}

}  // namespace
}  // namespace distal::core
