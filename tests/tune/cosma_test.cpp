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

static_assert(kMostCosmaSteps <= kMaxSteps, "plan_cosma must not plan more steps than a plan may have");

constexpr int64_t kAmple = int64_t{1} << 50;

CosmaProblem problem(int64_t ni, int64_t nj, int64_t nk, int64_t processors, int64_t bytes) {
  return {ni, nj, nk, processors, bytes, 8, 0.03};
}

std::string settings_of(const CosmaProblem& p, const CosmaPlan& plan) {
  return fmt::format("ni={},nj={},nk={},gx={},gy={},gz={},steps={},seqi={},seqj={}", p.ni, p.nj, p.nk, plan.gx, plan.gy,
                     plan.gz, plan.steps, plan.seqi, plan.seqj);
}

// The least memory that the planner says is needed.
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

// Conditions on every plan, which use as few of the planner's formulas as possible.
void expect_sound(const CosmaProblem& p, const CosmaPlan& plan) {
  EXPECT_EQ(plan.used_processors, plan.gx * plan.gy * plan.gz);
  EXPECT_LE(plan.used_processors, p.processors);
  EXPECT_EQ(plan.idle_processors, p.processors - plan.used_processors);
  EXPECT_LE(plan.memory_per_processor, p.bytes_per_processor);
  EXPECT_GE(std::min({plan.gx, plan.gy, plan.gz, plan.steps, plan.seqi, plan.seqj}), 1);
  EXPECT_LE(plan.used_processors * plan.steps * plan.seqi * plan.seqj, kMaxSteps);

  // Some processor has at least the average of the home pieces.
  int64_t elements = p.ni * p.nj + p.ni * p.nk + p.nk * p.nj;
  EXPECT_GE(plan.memory_per_processor, ceil_div(elements, plan.used_processors) * p.element_size);
}

// The program's Plan moves and holds what the planner promises.
void expect_plan_agrees(const CosmaProblem& p, const CosmaPlan& plan) {
  std::string settings = settings_of(p, plan);
  Cost cost = test::cost_of_algorithm("cosma", settings);
  EXPECT_LE(cost.peak_bytes_per_processor, p.bytes_per_processor) << settings;
  EXPECT_EQ(cost.peak_bytes_per_processor, plan.memory_per_processor) << settings;
  EXPECT_EQ(cost.bytes_moved, plan.bytes_moved) << settings;
  EXPECT_EQ(cost.processors, plan.used_processors) << settings;
}

TEST(Cosma, CubesOfProcessorsGiveCubes) {
  for (int64_t side : {1, 2, 3, 4, 5, 6, 8, 10, 16}) {
    int64_t n = 15 * side * side;
    CosmaProblem p = problem(n, n, n, side * side * side, kAmple);
    CosmaPlan plan = plan_cosma(p);
    EXPECT_EQ(plan.gx, side);
    EXPECT_EQ(plan.gy, side);
    EXPECT_EQ(plan.gz, side);
    EXPECT_EQ(plan.steps * plan.seqi * plan.seqj, 1);
    EXPECT_EQ(plan.bytes_moved, 3 * (side - 1) * n * n * 8);  // Johnson's count
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

// For any grid, steps and sequential parts, the planner's count equals that of the Plan.
TEST(Cosma, CountsWhatThePlanCounts) {
  std::mt19937 random(11);
  auto pick = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)) + 1; };
  for (int round = 0; round < 1500; ++round) {
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

// From the least memory that fits to ten times as much, every planned program can be explained and fits.
TEST(Cosma, PlansCanBeExplainedAndFit) {
  std::mt19937 random(12);
  auto pick = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)) + 1; };
  int with_steps = 0, with_parts = 0, with_idle = 0;
  for (int round = 0; round < 250; ++round) {
    // If a large problem gets little more memory than its home pieces, it has millions of steps: too slow to count.
    bool small = round % 5 != 0;
    int64_t side = small ? 24 : 400;
    CosmaProblem p = problem(pick(side), pick(side), pick(side), pick(small ? 30 : 100), 0);
    int64_t least = least_bytes(p);
    std::vector<int64_t> all{least + least / 3, 2 * least, least + pick(9 * least), 10 * least};
    if (small) all.insert(all.end(), {least, least + 8, least + pick(least)});
    for (int64_t bytes : all) {
      p.bytes_per_processor = bytes;
      CosmaPlan plan = plan_cosma(p);
      expect_sound(p, plan);
      expect_plan_agrees(p, plan);
      with_steps += plan.steps > 1;
      with_parts += plan.seqi * plan.seqj > 1;
      with_idle += plan.idle_processors > 0;
    }
    p.bytes_per_processor = least - 1;
    EXPECT_THROW(plan_cosma(p), Error);
  }
  EXPECT_GT(with_steps, 200);
  EXPECT_GT(with_parts, 100);
  EXPECT_GT(with_idle, 200);
}

// COSMA's s = (S - ab) / (a + b) on a 4 x 4 x 4 grid, where S is the memory besides the home pieces.
TEST(Cosma, FewestStepsThatFit) {
  constexpr int64_t kHome = 3 * 1024 * 1024 / 64, kTile = 256 * 256;
  for (int64_t chunk : {256, 128, 64}) {
    CosmaProblem p = problem(1024, 1024, 1024, 64, 8 * (kHome + kTile + chunk * 512));
    CosmaPlan plan = plan_cosma(p);
    EXPECT_EQ(settings_of(p, plan),
              fmt::format("ni=1024,nj=1024,nk=1024,gx=4,gy=4,gz=4,steps={},seqi=1,seqj=1", 256 / chunk));
    EXPECT_EQ(plan.memory_per_processor, p.bytes_per_processor);
    EXPECT_EQ(plan.bytes_moved, 3 * 3 * 1024 * 1024 * 8);  // for any number of steps
    expect_plan_agrees(p, plan);
    p.bytes_per_processor -= 8;
    EXPECT_GT(plan_cosma(p).steps, plan.steps);
  }
}

// The other grids of 27 processors, lines and 9 x 3 x 1, move more than 3 x 3 x 3 with sequential parts.
TEST(Cosma, SequentialPartsWhereTheShortestStepsDoNotFit) {
  constexpr int64_t kHome = 3 * 54 * 54 / 27, kTile = 18 * 18;
  CosmaProblem p = problem(54, 54, 54, 27, 8 * (kHome + kTile + 36));  // one element of k at a time
  CosmaPlan whole = plan_cosma(p);
  EXPECT_EQ(settings_of(p, whole), "ni=54,nj=54,nk=54,gx=3,gy=3,gz=3,steps=18,seqi=1,seqj=1");
  EXPECT_EQ(whole.memory_per_processor, p.bytes_per_processor);
  expect_plan_agrees(p, whole);
  p.bytes_per_processor -= 8;
  CosmaPlan cut = plan_cosma(p);
  EXPECT_EQ(settings_of(p, cut), "ni=54,nj=54,nk=54,gx=3,gy=3,gz=3,steps=3,seqi=1,seqj=2");
  EXPECT_GT(cut.bytes_in_and_out, whole.bytes_in_and_out);
  expect_plan_agrees(p, cut);
}

TEST(Cosma, LittleMemoryLeavesMoreProcessorsIdle) {
  // With 35 or 34 processors some home pieces are larger than 3100 bytes; with 32 each has 3072 bytes.
  CosmaProblem p = problem(64, 64, 64, 35, 3100);
  CosmaPlan tight = plan_cosma(p);
  EXPECT_EQ(tight.used_processors, 32);
  EXPECT_TRUE(tight.memory_forces_idle);
  expect_sound(p, tight);
  expect_plan_agrees(p, tight);
  p.bytes_per_processor = 8000;
  EXPECT_FALSE(plan_cosma(p).memory_forces_idle);
  EXPECT_LE(plan_cosma(p).idle_processors, 1);
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
  // With few processors none is left idle.
  for (int64_t few : {2, 3, 5, 7}) EXPECT_EQ(plan_cosma(problem(960, 960, 960, few, kAmple)).idle_processors, 0);
}

TEST(Cosma, ASmallProblemUsesAsManyProcessorsAsItCan) {
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
    // An eighth of each tensor and one element of A.
    EXPECT_EQ(error.message(), "no plan fits: a processor needs at least 3145736 bytes and has 100");
  }
  // And with exactly that, one fits.
  CosmaProblem p = problem(1024, 1024, 1024, 8, 3145736);
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
  EXPECT_EQ(refusal(problem(1, 1, 1, 1'000'001, 1)),
            "PROCESSORS is 1000001; at most 1000000 processors can be planned for");
}

// The planner refuses sizes beyond the limits of the language. Sizes at the limits can be explained.
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
  for (int round = 0; round < 60; ++round) {
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

bool has_empty_tiles(const CosmaProblem& p, const CosmaPlan& grid) {
  return nonempty_parts(p.ni, grid.gx) != grid.gx || nonempty_parts(p.nj, grid.gy) != grid.gy ||
         nonempty_parts(p.nk, grid.gz) != grid.gz;
}

// Calls visit for every plan on grids without empty tiles.
template <class F>
void for_each_plan(const CosmaProblem& p, F&& visit) {
  for (int64_t gx = 1; gx <= p.ni; ++gx)
    for (int64_t gy = 1; gy <= p.nj; ++gy)
      for (int64_t gz = 1; gz <= p.nk && gx * gy * gz <= p.processors; ++gz) {
        if (has_empty_tiles(p, {gx, gy, gz})) continue;
        for (int64_t seqi = 1; seqi <= p.ni; ++seqi)
          for (int64_t seqj = 1; seqj <= p.nj; ++seqj)
            for (int64_t steps = 1; steps <= p.nk; ++steps) visit(CosmaPlan{gx, gy, gz, steps, seqi, seqj});
      }
}

// For small problems, compared with all plans: no plan is better, and none needs less than the stated least memory.
TEST(Cosma, AgreesWithTryingEverything) {
  std::mt19937 random(5);
  auto pick = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)) + 1; };
  for (int round = 0; round < 150; ++round) {
    CosmaProblem p = problem(pick(12), pick(12), pick(12), pick(9), 0);
    int64_t least = least_bytes(p);
    p.bytes_per_processor = least + pick(2 * least);
    CosmaPlan got = plan_cosma(p);
    int64_t needed = kAmple, fewest_steps = got.steps;
    std::optional<Wide> fewest;  // elements in and out, of plans that use as many processors as the planner's
    for_each_plan(p, [&](const CosmaPlan& plan) {
      CosmaCost cost = cosma_cost(p, plan);
      needed = std::min(needed, cost.memory_elements * 8);
      if (cost.memory_elements * 8 > p.bytes_per_processor) return;
      CosmaPlan same_but_steps = plan;
      same_but_steps.steps = got.steps;
      if (settings_of(p, same_but_steps) == settings_of(p, got)) fewest_steps = std::min(fewest_steps, plan.steps);
      if (plan.gx * plan.gy * plan.gz != got.used_processors) return;
      fewest = std::min(fewest.value_or(cost.io_elements), cost.io_elements);
    });
    EXPECT_EQ(needed, least);
    EXPECT_EQ(got.steps, fewest_steps);
    ASSERT_TRUE(fewest.has_value());
    EXPECT_EQ(static_cast<int64_t>(*fewest) * 8, got.bytes_in_and_out) << settings_of(p, got);
  }
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
