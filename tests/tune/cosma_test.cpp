#include "tune/cosma.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>

#include "support/checked.h"
#include "tune/cosma_cost.h"

namespace distal::core {
namespace {

constexpr int64_t kAmple = int64_t{1} << 50;

CosmaProblem problem(int64_t ni, int64_t nj, int64_t nk, int64_t processors, int64_t bytes) {
  return {ni, nj, nk, processors, bytes, 8, 0.03};
}

// What every plan must satisfy, counted without the planner's own formulas where that is possible.
void expect_sound(const CosmaProblem& p, const CosmaPlan& plan) {
  EXPECT_EQ(plan.used_processors, plan.gx * plan.gy * plan.gz);
  EXPECT_LE(plan.used_processors, p.processors);
  EXPECT_EQ(plan.idle_processors, p.processors - plan.used_processors);
  EXPECT_LE(plan.memory_per_processor, p.bytes_per_processor);
  EXPECT_GE(std::min({plan.gx, plan.gy, plan.gz, plan.steps, plan.seqi, plan.seqj}), 1);
  EXPECT_LE(plan.gx * plan.seqi, p.ni + plan.gx);
  EXPECT_LE(plan.gy * plan.seqj, p.nj + plan.gy);

  // Memory: rows and columns owned by processor 0 counted one by one.
  int64_t tile_i = ceil_div(p.ni, plan.seqi * plan.gx);
  int64_t tile_j = ceil_div(p.nj, plan.seqj * plan.gy);
  int64_t local_k = ceil_div(p.nk, plan.gz);
  int64_t chunk = ceil_div(local_k, plan.steps);
  int64_t rows = 0;
  int64_t columns = 0;
  for (int64_t i = 0; i < p.ni; ++i) rows += (i / tile_i) % plan.gx == 0 ? 1 : 0;
  for (int64_t j = 0; j < p.nj; ++j) columns += (j / tile_j) % plan.gy == 0 ? 1 : 0;
  int64_t elements = rows * columns + rows * local_k + local_k * columns;
  if (plan.gz > 1) elements += tile_i * tile_j;
  if (plan.gy > 1) elements += tile_i * chunk;
  if (plan.gx > 1) elements += tile_j * chunk;
  EXPECT_EQ(plan.memory_per_processor, elements * p.element_size);
}

TEST(Cosma, CubesOfProcessorsGiveCubes) {
  for (int64_t side : {1, 2, 3, 4, 5, 6, 8, 10, 16}) {
    CosmaProblem p = problem(960, 960, 960, side * side * side, kAmple);
    CosmaPlan plan = plan_cosma(p);
    EXPECT_EQ(plan.gx, side);
    EXPECT_EQ(plan.gy, side);
    EXPECT_EQ(plan.gz, side);
    EXPECT_EQ(plan.steps * plan.seqi * plan.seqj, 1);
    EXPECT_EQ(plan.bytes_moved, 3 * (side - 1) * 960 * 960 * 8);  // Johnson's count
    expect_sound(p, plan);
  }
}

TEST(Cosma, TheGridFollowsTheShape) {
  CosmaPlan inner = plan_cosma(problem(32, 32, 1 << 20, 16, kAmple));
  EXPECT_EQ(inner.gz, 16);
  CosmaPlan tall = plan_cosma(problem(1 << 20, 32, 32, 16, kAmple));
  EXPECT_EQ(tall.gx, 16);
  CosmaPlan flat = plan_cosma(problem(4096, 4096, 16, 16, kAmple));
  EXPECT_EQ(flat.gx, 4);
  EXPECT_EQ(flat.gy, 4);
}

TEST(Cosma, LittleMemoryGivesSteps) {
  // On 2 x 2 processors a home of n^2/4 + 2 n^2/2 elements leaves room for chunks of a quarter of k.
  int64_t n = 64;
  int64_t home = n * n / 4 + n * n;
  CosmaProblem p = problem(n, n, n, 4, (home + 2 * (n / 2) * (n / 4)) * 8);
  CosmaPlan plan = plan_cosma(p);
  expect_sound(p, plan);
  EXPECT_EQ(plan.gz, 1);
  EXPECT_EQ(plan.steps, 4);
  EXPECT_EQ(plan.seqi * plan.seqj, 1);
}

TEST(Cosma, LessThanATileGivesSequentialSplits) {
  CosmaProblem p = problem(64, 64, 64, 8, 0);
  int64_t home = 3 * 32 * 32;
  p.bytes_per_processor = (home + 32 * 32 + 64) * 8;
  CosmaPlan fits = plan_cosma(p);
  EXPECT_EQ(fits.seqi * fits.seqj, 1);
  EXPECT_EQ(fits.steps, 32);
  // Too little for a tile of A, and for the home of any flatter grid.
  p.bytes_per_processor = (home + 32 * 32 / 4) * 8;
  CosmaPlan split = plan_cosma(p);
  EXPECT_GT(split.seqi * split.seqj, 1);
  EXPECT_EQ(split.used_processors, 8);
  expect_sound(p, split);
}

TEST(Cosma, PrimesLeaveProcessorsIdleWhereThatMovesLess) {
  CosmaPlan thirteen = plan_cosma(problem(960, 960, 960, 13, kAmple));
  EXPECT_EQ(thirteen.used_processors, 12);
  EXPECT_EQ(thirteen.idle_processors, 1);
  CosmaPlan many = plan_cosma(problem(1000, 1000, 1000, 127, kAmple));
  EXPECT_EQ(many.gx, 5);
  EXPECT_EQ(many.gy, 5);
  EXPECT_EQ(many.gz, 5);
  EXPECT_EQ(many.idle_processors, 2);
  // A line of processors is best where only k is long: then all of them work.
  EXPECT_EQ(plan_cosma(problem(16, 16, 13 << 16, 13, kAmple)).used_processors, 13);
  // Of a few, none is left idle.
  for (int64_t few : {2, 3, 5, 7}) EXPECT_EQ(plan_cosma(problem(960, 960, 960, few, kAmple)).idle_processors, 0);
}

TEST(Cosma, ASmallProblemEmploysWhatItCan) {
  CosmaPlan plan = plan_cosma(problem(2, 2, 2, 1000, kAmple));
  EXPECT_LE(plan.used_processors, 8);
  EXPECT_GE(plan.used_processors, 7);
  EXPECT_EQ(plan_cosma(problem(1, 1, 1, 100000, kAmple)).used_processors, 1);
}

TEST(Cosma, NoPlanIsAnErrorWithNeedAndHave) {
  try {
    plan_cosma(problem(1024, 1024, 1024, 8, 100));
    FAIL() << "100 bytes cannot be enough";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::Resources);
    // Three faces of 512 x 512, and one element of each tensor acquired.
    EXPECT_EQ(error.message(), "no plan fits: a processor needs at least 6291480 bytes and has 100");
  }
  // And with exactly that, one fits.
  CosmaProblem p = problem(1024, 1024, 1024, 8, 6291480);
  expect_sound(p, plan_cosma(p));
}

TEST(Cosma, NonsenseIsRefused) {
  for (CosmaProblem p : {problem(0, 1, 1, 1, 1), problem(1, -1, 1, 1, 1), problem(1, 1, 0, 1, 1),
                         problem(1, 1, 1, 0, 1), problem(1, 1, 1, 1, 0), problem(1, 1, 1, int64_t{1} << 60, 1),
                         problem(int64_t{1} << 40, int64_t{1} << 40, 1, 1, kAmple)}) {
    EXPECT_THROW(plan_cosma(p), Error);
  }
}

TEST(Cosma, RandomProblemsHaveSoundPlansAndMoreMemoryNeverMovesMore) {
  std::mt19937 random(3);
  auto pick = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)) + 1; };
  for (int round = 0; round < 300; ++round) {
    CosmaProblem p = problem(pick(300), pick(300), pick(300), pick(200), kAmple);
    CosmaPlan ample = plan_cosma(p);
    expect_sound(p, ample);
    std::optional<CosmaPlan> smaller;
    for (int64_t bytes = 8 * 64; bytes < ample.memory_per_processor * 3 / 2; bytes += bytes / 5) {
      p.bytes_per_processor = bytes;
      CosmaPlan plan;
      try {
        plan = plan_cosma(p);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Error::Kind::Resources);
        EXPECT_FALSE(smaller.has_value()) << "a plan fitted into less memory";
        continue;
      }
      expect_sound(p, plan);
      if (smaller && !smaller->memory_forces_idle) {
        EXPECT_FALSE(plan.memory_forces_idle);
        EXPECT_LE(plan.bytes_in_and_out, smaller->bytes_in_and_out);
      }
      smaller = plan;
    }
  }
}

// Every plan there is, for small problems: the planner's is as good as the best of them.
TEST(Cosma, AgreesWithTryingEverything) {
  std::mt19937 random(5);
  auto pick = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)) + 1; };
  int compared = 0;
  for (int round = 0; round < 400; ++round) {
    CosmaProblem p = problem(pick(12), pick(12), pick(12), pick(7), 8 * (20 + pick(250)));
    std::optional<Wide> fewest;  // elements in and out, by plans that use as many processors as the planner's
    CosmaPlan got;
    try {
      got = plan_cosma(p);
    } catch (const Error&) {
      continue;
    }
    for (int64_t gx = 1; gx <= p.ni; ++gx)
      for (int64_t gy = 1; gy <= p.nj; ++gy)
        for (int64_t gz = 1; gz <= p.nk; ++gz) {
          if (gx * gy * gz != got.used_processors) continue;
          if (nonempty_parts(p.ni, gx) != gx || nonempty_parts(p.nj, gy) != gy || nonempty_parts(p.nk, gz) != gz)
            continue;
          for (int64_t seqi = 1; seqi <= p.ni; ++seqi)
            for (int64_t seqj = 1; seqj <= p.nj; ++seqj)
              for (int64_t steps = 1; steps <= p.nk; ++steps) {
                CosmaCost cost = cosma_cost(p, {gx, gy, gz, steps, seqi, seqj});
                if (cost.memory_elements() * 8 > p.bytes_per_processor) continue;
                fewest = std::min(fewest.value_or(cost.io_elements), cost.io_elements);
              }
        }
    ASSERT_TRUE(fewest.has_value());
    EXPECT_EQ(static_cast<int64_t>(*fewest) * 8, got.bytes_in_and_out);
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(Cosma, AHundredThousandProcessorsArePlannedQuickly) {
  auto start = std::chrono::steady_clock::now();
  plan_cosma(problem(100000, 100000, 100000, 100000, kAmple));
  plan_cosma(problem(100000, 100000, 100000, 99991, 250'000'000));
  plan_cosma(problem(100000, 100000, 100000, 99991, 120'000'000));
  EXPECT_THROW(plan_cosma(problem(100000, 100000, 100000, 100000, 1000)), Error);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 60);  // a second or so; sanitizers are slow
}

}  // namespace
}  // namespace distal::core
