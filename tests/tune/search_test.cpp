#include "tune/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <regex>

#include "support/checked.h"
#include "tune/free_formats.h"
#include "tune/grids.h"
#include "tune/random_statements.h"

namespace distal::core {
namespace {

using test::Random;

SearchOptions options_for(int64_t processors, Goal goal = Goal::Bytes) {
  SearchOptions options;
  options.processors = processors;
  options.goal = goal;
  options.model = model_of_engine("mpi");
  return options;
}

const std::string kGemm = R"(param n = 4096
tensor A(n, n)
tensor B(n, n)
tensor C(n, n)
A(i, j) = B(i, k) * C(k, j)
)";

// All candidates without loops on grids of all numbers of processors, by their number.
std::map<int64_t, std::vector<Candidate>> all_candidates(const StatementShape& shape, int64_t most) {
  std::map<int64_t, std::vector<Candidate>> out;
  std::vector<int64_t> parts(shape.extents.size(), 1);
  while (true) {
    int64_t processors = 1;
    bool has_work = true;
    for (size_t i = 0; i < parts.size(); ++i) {
      processors *= parts[i];
      has_work = has_work && fills(shape.extents[i], parts[i]);
    }
    if (processors <= most && has_work) {
      Candidate candidate = with_free_formats(shape, levels_of(parts));
      if (cost_of(shape, candidate).working_processors == processors) out[processors].push_back(candidate);
    }
    size_t next = 0;
    while (next < parts.size() && ++parts[next] > most) parts[next++] = 1;
    if (next == parts.size()) return out;
  }
}

// The search finds the least of all grids, for random statements, sizes and up to 16 processors.
TEST(Search, FindsTheLeastOfAllGrids) {
  Random random{std::mt19937(2)};
  for (int round = 0; round < 2000; ++round) {
    std::string text = test::random_statement(random, 4, 20);
    StatementShape shape = test::shape_of_text(text);
    int64_t processors = random.pick(1, 16);
    SCOPED_TRACE(fmt::format("{} on {} processors", text, processors));
    SearchResult found = search(shape, options_for(processors));
    std::map<int64_t, std::vector<Candidate>> all = all_candidates(shape, processors);
    int64_t used = found.best.candidate.processors();
    int64_t fewest = processors - processors / 10;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const auto& [count, candidates] : all) {
      if (count < fewest) continue;
      for (const Candidate& candidate : candidates) least = std::min(least, cost_of(shape, candidate).exchanged_bytes);
    }
    if (used < fewest) continue;  // no grid of nearly all processors has work for all
    ASSERT_TRUE(found.is_least);
    ASSERT_EQ(found.best.cost.exchanged_bytes, least);
    ASSERT_EQ(found.best.cost, cost_of(shape, found.best.candidate));
  }
}

// Visits all ways to cut the indices of a candidate into chunks, in all orders.
template <class F>
void for_each_loops(const StatementShape& shape, Candidate candidate, F&& visit) {
  std::vector<int> order(shape.extents.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  do {
    std::vector<int64_t> parts(order.size(), 1);
    while (true) {
      candidate.loops.clear();
      for (size_t i = 0; i < order.size(); ++i) {
        if (parts[i] > 1) candidate.loops.push_back({order[i], parts[i]});
      }
      visit(candidate);
      size_t next = 0;
      while (next < parts.size() && ++parts[next] > shape.extents[order[next]]) parts[next++] = 1;
      if (next == parts.size()) break;
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

// Under a cap on memory, what is found fits; a refusal names the least memory that does; and one loop is as good as the
// best of all loops if one loop is enough.
TEST(Search, KeepsTheCapOnMemory) {
  Random random{std::mt19937(3)};
  int refused = 0, one_loop = 0, several_loops = 0;
  for (int round = 0; round < 600; ++round) {
    std::string text = test::random_statement(random, 3, 7);
    StatementShape shape = test::shape_of_text(text);
    SearchOptions options = options_for(random.pick(1, 6));
    SearchResult free = search(shape, options);
    options.memory_bytes = random.pick(free.best.cost.peak_bytes / 2, free.best.cost.peak_bytes);
    SCOPED_TRACE(fmt::format("{} on {} processors with {} bytes", text, options.processors, *options.memory_bytes));
    try {
      SearchResult found = search(shape, options);
      ASSERT_LE(found.best.cost.peak_bytes, *options.memory_bytes);
      int64_t least = std::numeric_limits<int64_t>::max();
      for_each_loops(shape, found.best.candidate, [&](const Candidate& candidate) {
        CandidateCost cost = cost_of(shape, candidate);
        if (cost.peak_bytes <= *options.memory_bytes) least = std::min(least, cost.exchanged_bytes);
      });
      ASSERT_LE(least, found.best.cost.exchanged_bytes);
      if (found.best.candidate.loops.size() == 1) {
        ASSERT_EQ(found.best.cost.exchanged_bytes, least);
      }
      one_loop += found.best.candidate.loops.size() == 1;
      several_loops += found.best.candidate.loops.size() > 1;
    } catch (const Error& error) {
      std::smatch least;
      std::string message = error.message();
      ASSERT_TRUE(std::regex_search(message, least, std::regex("at least ([0-9,]+) bytes and may have"))) << message;
      std::string digits = least[1];
      std::erase(digits, ',');
      options.memory_bytes = std::stoll(digits);
      ASSERT_LE(search(shape, options).best.cost.peak_bytes, *options.memory_bytes);
      *options.memory_bytes -= 1;
      ASSERT_THROW(search(shape, options), Error);
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
  EXPECT_GT(one_loop, 10);
  EXPECT_GT(several_loops, 0);
}

TEST(Search, RefusesTooLittleMemory) {
  SearchOptions options = options_for(4);
  options.memory_bytes = 100;
  try {
    search(test::shape_of_text(kGemm, "n=8"), options);
    FAIL() << "it fits";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::Resources);
    EXPECT_EQ(error.message(), "nothing fits: a processor needs at least 392 bytes and may have 100");
  }
}

TEST(Search, CubesOfProcessorsGiveCubes) {
  for (int64_t side : {2, 3, 4, 8, 10}) {
    SearchResult found =
        search(test::shape_of_text(kGemm, fmt::format("n={}", 120 * side)), options_for(side * side * side));
    ASSERT_EQ(found.best.candidate.levels.size(), 3);
    for (const GridLevel& level : found.best.candidate.levels) EXPECT_EQ(level.parts, side);
    int64_t tile = 120 * 120, pieces = tile / side;
    EXPECT_EQ(found.best.cost.exchanged_bytes, 3 * (tile - pieces) * 8);
  }
}

// Every alternative has a reason why it was not chosen, and is not better.
TEST(Search, AlternativesHaveReasons) {
  SearchResult found = search(test::shape_of_text(kGemm, "n=100"), options_for(12));
  ASSERT_FALSE(found.alternatives.empty());
  for (const Alternative& other : found.alternatives) {
    EXPECT_FALSE(other.reason.empty());
    EXPECT_GE(other.found.cost.exchanged_bytes, found.best.cost.exchanged_bytes);
  }
}

TEST(Search, ReasonsCountIdleProcessors) {
  int idle = 0;
  for (int64_t processors = 2; processors <= 64; ++processors) {
    SearchResult found = search(test::shape_of_text(kGemm, "n=100"), options_for(processors));
    for (const Alternative& other : found.alternatives) {
      int64_t fewer = found.best.cost.working_processors - other.found.cost.working_processors;
      if (fewer <= 0 || other.reason.starts_with("does not fit")) continue;
      std::string said =
          fewer == 1 ? "1 more processor has no work" : fmt::format("{} more processors have no work", fewer);
      EXPECT_TRUE(other.reason.ends_with(said)) << other.reason;
      ++idle;
    }
  }
  EXPECT_GT(idle, 20);
}

// If messages take long in the model, the goal of time finds a grid with fewer messages.
TEST(Search, TimeFollowsTheModel) {
  StatementShape shape = test::shape_of_text(test::algorithm_text("summa"), "ni=65536,nj=64,nk=64");
  SearchOptions options = options_for(61, Goal::Time);
  options.model.seconds_per_message = 1e-9;
  SearchResult cheap = search(shape, options);
  options.model.seconds_per_message = 1e-2;
  SearchResult dear = search(shape, options);
  EXPECT_LT(dear.best.cost.messages_of_busiest, cheap.best.cost.messages_of_busiest);
  EXPECT_GT(dear.best.cost.exchanged_bytes, cheap.best.cost.exchanged_bytes);
}

// On a machine of several levels, of the candidates that exchange least, the one that moves least between the
// processors of the outermost level.
TEST(Search, MovesLittleBetweenOuterProcessors) {
  for (const char* sizes : {"ni=40,nj=10,nk=20", "ni=10,nj=40,nk=20", "ni=20,nj=20,nk=90"}) {
    StatementShape shape = test::shape_of_text(test::algorithm_text("summa"), sizes);
    SearchOptions options = options_for(10);
    options.given_grid = {{kNoIndex, 5, 1, 0}, {kNoIndex, 2, 1, 1}};
    SearchResult found = search(shape, options);
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int outer = 0; outer < 3; ++outer) {
      for (int inner = 0; inner < 3; ++inner) {
        CandidateCost cost = cost_of(shape, with_free_formats(shape, {{outer, 5, 1, 0}, {inner, 2, 1, 1}}));
        if (cost.exchanged_bytes == found.best.cost.exchanged_bytes) least = std::min(least, cost.crossing_bytes);
      }
    }
    EXPECT_EQ(found.best.cost.crossing_bytes, least) << sizes;
    EXPECT_LT(least, found.best.cost.bytes_moved) << sizes;
  }
}

// In steps, many processors need one chunk of one owner, unless they begin at different chunks. That needs memory for a
// second buffer.
TEST(Search, RotatesStepsThatWaitForOneOwner) {
  StatementShape shape = test::shape_of_text(kGemm);
  SearchOptions options = options_for(64);
  options.memory_bytes = 20'000'000;
  SearchResult found = search(shape, options);
  ASSERT_EQ(found.best.candidate.loops.size(), 1);
  EXPECT_TRUE(found.best.candidate.loops[0].is_rotated);
  EXPECT_EQ(found.best.cost.link_bytes, found.best.cost.exchanged_bytes);
  Candidate straight = found.best.candidate;
  straight.loops[0].is_rotated = false;
  CandidateCost cost = cost_of(shape, straight);
  EXPECT_EQ(cost.exchanged_bytes, found.best.cost.exchanged_bytes);
  EXPECT_GT(cost.link_bytes, cost.exchanged_bytes);
  EXPECT_LT(cost.peak_bytes, found.best.cost.peak_bytes);
}

// Every statement of the paper, and the contraction of two tensors of four dimensions.
TEST(Search, IsFast) {
  std::vector<std::string> names{"summa", "ttv", "ttm", "mttkrp", "innerprod", "matvec", "contraction4"};
  for (const std::string& name : names) {
    for (Goal goal : {Goal::Time, Goal::Bytes}) {
      for (auto [processors, limit] : {std::pair<int64_t, double>{997, 0.5}, {65'521, 10}}) {
        StatementShape shape = test::shape_of_text(test::algorithm_text(name));
        double start = test::cpu_seconds();
        search(shape, options_for(processors, goal));
        // Five times what is promised, because builds with sanitizers are slower.
        EXPECT_LT(test::cpu_seconds() - start, limit) << name << " on " << processors;
      }
    }
  }
}

}  // namespace
}  // namespace distal::core
