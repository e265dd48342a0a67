#include "tune/cosma.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <regex>

#include "plan/plan.h"
#include "support/checked.h"
#include "support/programs.h"
#include "tune/cosma_cost.h"

namespace distal::core {
namespace {

static_assert(kMostCosmaProcessors <= kMaxSteps, "a plan of one step a processor must not have too many");

constexpr int64_t kAmple = int64_t{1} << 50;

CosmaProblem problem(int64_t ni, int64_t nj, int64_t nk, int64_t processors, int64_t bytes) {
  return {ni, nj, nk, processors, bytes, 8, 0.03};
}

std::string settings_of(const CosmaProblem& p, const CosmaPlan& plan) {
  return fmt::format("ni={},nj={},nk={},gx={},gy={},gz={},steps={},seqi={},seqj={}", p.ni, p.nj, p.nk, plan.gx, plan.gy,
                     plan.gz, plan.steps, plan.seqi, plan.seqj);
}

int64_t block_of(int64_t n, int64_t parts, int64_t part) {
  int64_t block = ceil_div(n, parts);
  return std::clamp<int64_t>(n - part * block, 0, block);
}

// What the planner says is needed at least.
int64_t least_bytes(CosmaProblem p) {
  p.bytes_per_processor = 1;
  try {
    plan_cosma(p);
  } catch (const Error& error) {
    std::smatch need;
    std::string message = error.message();
    EXPECT_TRUE(std::regex_search(message, need, std::regex("at least ([0-9]+) bytes"))) << message;
    return std::stoll(need[1]);
  }
  ADD_FAILURE() << "one byte was enough";
  return 1;
}

// What every plan must satisfy, counted without the planner's own formulas where that is possible.
void expect_sound(const CosmaProblem& p, const CosmaPlan& plan) {
  EXPECT_EQ(plan.used_processors, plan.gx * plan.gy * plan.gz);
  EXPECT_LE(plan.used_processors, p.processors);
  EXPECT_EQ(plan.idle_processors, p.processors - plan.used_processors);
  EXPECT_LE(plan.memory_per_processor, p.bytes_per_processor);
  EXPECT_GE(std::min({plan.gx, plan.gy, plan.gz, plan.steps, plan.seqi, plan.seqj}), 1);
  EXPECT_LE(plan.used_processors * plan.steps * plan.seqi * plan.seqj, kMaxSteps);

  // Memory: a processor has whole blocks of the tensors whose face it is on, and as much of the others as a copy.
  int64_t most = 0;
  for (int64_t x = 0; x < plan.gx; ++x)
    for (int64_t y = 0; y < plan.gy; ++y)
      for (int64_t z = 0; z < plan.gz; ++z) {
        int64_t rows = block_of(p.ni, plan.gx, x);
        int64_t columns = block_of(p.nj, plan.gy, y);
        int64_t depth = block_of(p.nk, plan.gz, z);
        most = std::max(most, rows * columns + rows * depth + depth * columns);
      }
  EXPECT_EQ(plan.memory_per_processor, most * p.element_size);
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

// The count is the plan's own, for any grid, steps and sequential parts, and not only for those that are printed.
TEST(Cosma, CountsWhatThePlanCounts) {
  std::mt19937 random(11);
  auto pick = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)) + 1; };
  for (int round = 0; round < 600; ++round) {
    CosmaProblem p = problem(pick(40), pick(40), pick(40), 1, kAmple);
    CosmaPlan plan{.gx = pick(5), .gy = pick(5), .gz = pick(5), .steps = pick(6), .seqi = pick(5), .seqj = pick(5)};
    if (round % 3 == 0) plan.steps = plan.seqi = plan.seqj = 1;
    std::string settings = settings_of(p, plan);
    CosmaCost counted = cosma_cost(p, plan);
    Cost cost = test::cost_of_algorithm("cosma", settings);
    EXPECT_EQ(counted.memory_elements * 8, cost.peak_bytes_per_processor) << settings;
    EXPECT_EQ(static_cast<int64_t>(counted.moved_elements) * 8, cost.bytes_moved) << settings;
  }
}

// Whatever is planned, from all but too little memory to plenty, can be explained, and keeps its word there.
TEST(Cosma, PlansCanBeExplainedAndFit) {
  std::mt19937 random(12);
  auto pick = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)) + 1; };
  int planned = 0;
  for (int round = 0; round < 300; ++round) {
    CosmaProblem p = problem(pick(500), pick(500), pick(500), pick(100), 0);
    int64_t least = least_bytes(p);
    for (int64_t bytes : {least, least + 8, least + pick(least), 10 * least}) {
      p.bytes_per_processor = bytes;
      CosmaPlan plan = plan_cosma(p);
      std::string settings = settings_of(p, plan);
      Cost cost = test::cost_of_algorithm("cosma", settings);
      EXPECT_LE(cost.peak_bytes_per_processor, bytes) << settings;
      EXPECT_EQ(cost.peak_bytes_per_processor, plan.memory_per_processor) << settings;
      EXPECT_EQ(cost.bytes_moved, plan.bytes_moved) << settings;
      EXPECT_EQ(cost.processors, plan.used_processors) << settings;
      ++planned;
    }
  }
  EXPECT_EQ(planned, 1200);
}

TEST(Cosma, TheLeastMemoryThatFits) {
  constexpr int64_t kTiles = 3 * 256 * 256 * 8;  // on 4 x 4 x 4
  CosmaPlan exact = plan_cosma(problem(1024, 1024, 1024, 64, kTiles));
  EXPECT_EQ(exact.memory_per_processor, kTiles);
  EXPECT_EQ(exact.steps * exact.seqi * exact.seqj, 1);
  EXPECT_EQ(plan_cosma(problem(1024, 1024, 1024, 64, kTiles + 64)), exact);
  EXPECT_THROW(plan_cosma(problem(1024, 1024, 1024, 64, kTiles - 1)), Error);
}

TEST(Cosma, LittleMemoryLeavesMoreProcessorsIdle) {
  // Seven in a line each have a whole operand or the whole result; 1 x 2 x 3 have halves and thirds.
  CosmaPlan line = plan_cosma(problem(960, 960, 960, 7, kAmple));
  EXPECT_EQ(line.used_processors, 7);
  EXPECT_FALSE(line.memory_forces_idle);
  CosmaProblem p = problem(960, 960, 960, 7, line.memory_per_processor - 1);
  CosmaPlan tight = plan_cosma(p);
  EXPECT_EQ(tight.used_processors, 6);
  EXPECT_TRUE(tight.memory_forces_idle);
  expect_sound(p, tight);
}

// COSMA's rule takes the fewest steps and sequential parts that fit. Here those are always one: the tensors lie on
// faces of the grid, and whoever owns the corner of the faces needs its pieces however the others' work is cut.
TEST(Cosma, StepsAndSequentialPartsNeverSaveMemory) {
  for (int64_t n : {7, 24, 50})
    for (int64_t grid : {1, 2, 3})
      for (int64_t steps : {1, 2, 5})
        for (int64_t seqi : {1, 2, 3, 7})
          for (int64_t seqj : {1, 4}) {
            CosmaProblem p = problem(n, n + 3, n + 1, 27, kAmple);
            CosmaPlan whole{.gx = grid, .gy = 3, .gz = grid};
            CosmaPlan cut{.gx = grid, .gy = 3, .gz = grid, .steps = steps, .seqi = seqi, .seqj = seqj};
            EXPECT_GE(test::cost_of_algorithm("cosma", settings_of(p, cut)).peak_bytes_per_processor,
                      test::cost_of_algorithm("cosma", settings_of(p, whole)).peak_bytes_per_processor)
                << settings_of(p, cut);
          }
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
    // A tile of 512 x 512 of each tensor.
    EXPECT_EQ(error.message(), "no plan fits: a processor needs at least 6291456 bytes and has 100");
  }
  // And with exactly that, one fits.
  CosmaProblem p = problem(1024, 1024, 1024, 8, 6291456);
  expect_sound(p, plan_cosma(p));
}

std::string refusal(const CosmaProblem& p) {
  try {
    plan_cosma(p);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::Input);
    return error.message() + "; " + error.help();
  }
  return "";
}

TEST(Cosma, NonsenseIsRefused) {
  EXPECT_EQ(refusal(problem(0, 1, 1, 1, 1)), "NI is 0; NI must be at least 1");
  EXPECT_EQ(refusal(problem(1, -1, 1, 1, 1)), "NJ is -1; NJ must be at least 1");
  EXPECT_EQ(refusal(problem(1, 1, 0, 1, 1)), "NK is 0; NK must be at least 1");
  EXPECT_EQ(refusal(problem(1, 1, 1, 0, 1)), "PROCESSORS is 0; PROCESSORS must be at least 1");
  EXPECT_EQ(refusal(problem(1, 1, 1, 1, 0)), "BYTES_PER_PROCESSOR is 0; BYTES_PER_PROCESSOR must be at least 1");
  EXPECT_EQ(refusal(problem(1, 1, 1, 10'000'001, 1)),
            "PROCESSORS is 10000001; at most 10000000 processors can be planned for");
}

// What is beyond the limits of the language is refused here, and what is within them can be explained.
TEST(Cosma, TheLimitsAreThoseOfTheLanguage) {
  constexpr int64_t kMillion = int64_t{1} << 20;
  EXPECT_EQ(refusal(problem(kMillion, kMillion, kMillion + 1, 1, kAmple)),
            "NI x NJ x NK is 1048576 x 1048576 x 1048577: too many points; a statement may have up to 2^60 points");
  EXPECT_EQ(
      refusal(problem(int64_t{1} << 30, int64_t{1} << 29, 1, 1, kAmple)),
      "A, B and C have 576460753914036224 elements of 8 bytes: too many; together they may have up to 2^62 bytes");
  for (CosmaProblem p : {problem(kMillion, kMillion, kMillion, 8, kAmple),
                         problem(int64_t{1} << 29, int64_t{1} << 29, 2, 8, int64_t{1} << 60)}) {
    EXPECT_NO_THROW(test::cost_of_algorithm("cosma", settings_of(p, plan_cosma(p))));
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
                if (cost.memory_elements * 8 > p.bytes_per_processor) continue;
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
