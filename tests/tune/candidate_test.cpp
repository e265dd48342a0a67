#include "tune/candidate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tune/candidate_cost.h"
#include "tune/exchange.h"
#include "tune/free_formats.h"
#include "tune/random_statements.h"

namespace distal::core {
namespace {

Candidate random_candidate(const StatementShape& shape, int64_t most_processors, test::Random& random) {
  std::vector<int64_t> parts(shape.extents.size(), 1);
  int64_t processors = 1;
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i] = std::min(shape.extents[i], random.pick(1, std::max<int64_t>(1, most_processors / processors)));
    if (random.pick(0, 2) == 0) parts[i] = 1;
    processors *= parts[i];
  }
  std::shuffle(parts.begin(), parts.end(), random.engine);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = std::min(parts[i], shape.extents[i]);
  Candidate candidate = with_free_formats(shape, levels_of(parts));
  std::vector<int> order(shape.extents.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::shuffle(order.begin(), order.end(), random.engine);
  for (int index : order) {
    int64_t loops = random.pick(0, 3);
    bool is_rotated = !rotating_levels(shape, candidate, index).empty() && random.pick(0, 1) == 0;
    if (loops > 1) candidate.loops.push_back({index, loops, is_rotated});
  }
  return candidate;
}

// The closed form says what a candidate moves and holds. The Plan of its program must count the same, for random
// statements, sizes, grids and sequential loops.
TEST(Candidate, CountsWhatThePlanCounts) {
  test::Random random{std::mt19937(1)};
  int moving = 0, cyclic = 0, looping = 0, rotated = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string statement = test::random_statement(random, 5, 14, 3);
    StatementShape shape = test::shape_of_text(statement);
    Candidate candidate = random_candidate(shape, 32, random);
    if (round % 2 == 0) candidate.loops.clear();
    candidate = flattened(shape, candidate);
    std::string text = to_string(test::with_candidate(test::parse_text(statement), shape, candidate));
    SCOPED_TRACE(text);
    CandidateCost said = cost_of(shape, candidate);
    bool rotates = std::any_of(candidate.loops.begin(), candidate.loops.end(),
                               [](const SequentialLoop& loop) { return loop.is_rotated; });
    Plan plan = test::plan_text(text);
    PlanCost counted = count_cost(plan);
    test::Exchange exchange = test::exchange_of(plan);
    ASSERT_EQ(said.exchanged_bytes, exchange.most());
    ASSERT_EQ(said.bytes_moved, counted.bytes_moved);
    ASSERT_GE(said.peak_bytes, counted.peak_bytes_per_processor);
    ASSERT_GE(said.link_bytes, said.exchanged_bytes);
    if (!rotates) {
      ASSERT_EQ(said.peak_bytes, counted.peak_bytes_per_processor);
    }
    rotated += rotates;
    if (!rotates && !exchange.combines_partials()) {
      ASSERT_EQ(said.crossing_bytes, counted.bytes_by_level[0]);
    }
    moving += counted.bytes_moved > 0;
    looping += !candidate.loops.empty();
    cyclic += text.find("cyclic") != std::string::npos;
    if (candidate.loops.empty() && !exchange.combines_partials()) {
      ASSERT_EQ(said.messages, counted.messages);
    }
  }
  EXPECT_GT(moving, 500);
  EXPECT_GT(cyclic, 50);
  EXPECT_GT(looping, 300);
  EXPECT_GT(rotated, 100);
}

}  // namespace
}  // namespace distal::core
