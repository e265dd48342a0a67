#include "tune/find.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tune/exchange.h"
#include "tune/random_statements.h"

namespace distal::core {
namespace {

using test::Random;

// A format of a tensor of this many dimensions: each dimension of the machine cuts one, is a face, or broadcasts.
std::string random_format(Random& random, int64_t dimensions, const std::vector<std::vector<int64_t>>& grid,
                          bool may_broadcast) {
  const std::string names = "abcdefgh";
  std::string out;
  for (const std::vector<int64_t>& level : grid) {
    std::string roles;
    for (int64_t extent : level) {
      char role = names[static_cast<size_t>(random.pick(0, std::max<int64_t>(0, dimensions - 1)))];
      if (dimensions == 0 || random.pick(0, 3) == 0 || roles.find(role) != std::string::npos) {
        role = may_broadcast && random.pick(0, 1) == 0
                   ? '*'
                   : static_cast<char>('0' + random.pick(0, std::min<int64_t>(9, extent - 1)));
      }
      roles += role;
    }
    if (!out.empty()) out += ", ";
    out += names.substr(0, static_cast<size_t>(dimensions)) + " -> " + roles;
    size_t cut = roles.find_first_of(names);
    if (cut != std::string::npos && random.pick(0, 3) == 0) {
      out += fmt::format(" cyclic({} = {})", roles[cut], random.pick(1, 4));
    }
  }
  return out;
}

// Machines of one or two levels.
std::vector<std::vector<int64_t>> random_grid(Random& random) {
  std::vector<std::vector<int64_t>> grid(static_cast<size_t>(random.pick(1, 2)));
  int64_t processors = 1;
  for (std::vector<int64_t>& level : grid) {
    for (int64_t d = random.pick(1, 2); d > 0; --d) {
      level.push_back(random.pick(1, std::max<int64_t>(1, std::min<int64_t>(4, 16 / processors))));
      processors *= level.back();
    }
  }
  return grid;
}

std::string machine_text(const std::vector<std::vector<int64_t>>& grid) {
  std::string out;
  for (const std::vector<int64_t>& level : grid) {
    out += fmt::format("{}Grid({})", out.empty() ? "machine M = " : " of ", fmt::join(level, ", "));
  }
  return out + "\n";
}

FindOptions least_bytes() { return {Goal::Bytes, {}, model_of_engine("mpi")}; }

// A random statement on a random machine, or on processors without a grid; a share of the formats is given.
std::string random_program(Random& random, int64_t given_of_ten) {
  std::vector<std::vector<int64_t>> grid = random_grid(random);
  bool has_grid = random.pick(0, 1) == 0;
  if (!has_grid) grid = {{random.pick(1, 16)}};
  Module module = test::parse_text(test::random_statement(random, 4, 14));
  std::string text = to_string(module);
  std::string params = text.substr(0, text.find('\n') + 1), out = params;
  out += has_grid ? machine_text(grid) : fmt::format("machine M = {} processors\n", grid[0][0]);
  for (size_t t = 0; t < module.tensors.size(); ++t) {
    std::string line = fmt::format("tensor {}", module.tensors[t].name);
    std::string sizes;
    for (const IntExpr& size : module.tensors[t].dimensions) sizes += (sizes.empty() ? "" : ", ") + size.to_string();
    if (!sizes.empty()) line += "(" + sizes + ")";
    if (random.pick(1, 10) <= given_of_ten) {
      line += " : " + random_format(random, static_cast<int64_t>(module.tensors[t].dimensions.size()), grid, t > 0);
    }
    out += line + " on M\n";
  }
  return out + to_string(module.statements[0].statement) + "\n";
}

// The found program parses, keeps what was given, and exchanges, moves and holds what was said, for all formats that
// are given or free.
TEST(Find, CountsWhatThePlanCounts) {
  Random random{std::mt19937(4)};
  int64_t found_given = 0;
  for (int round = 0; round < 600; ++round) {
    std::string text = random_program(random, round % 3 == 0 ? 0 : 6);
    SCOPED_TRACE(text);
    Module module = test::parse_text(text);
    FoundProgram found = find_what_is_left_out(module, bind(module, {}), least_bytes());
    ASSERT_EQ(found.left, std::vector<std::string>{});
    ASSERT_EQ(found.statements.size(), 1);
    std::string written = to_string(found.module);
    SCOPED_TRACE(written);
    ASSERT_EQ(test::parse_text(written), test::parse_text(to_string(test::parse_text(written))));
    for (size_t t = 0; t < module.tensors.size(); ++t) {
      if (has_free_format(module.tensors[t])) continue;
      // A format that was given for processors without a grid is on Grid(P) once the grid is found.
      if (!module.machines[0].is_free) ASSERT_EQ(module.tensors[t], found.module.tensors[t]);
      ASSERT_EQ(module.tensors[t].distribution, found.module.tensors[t].distribution);
      ++found_given;
    }
    Plan plan = test::plan_text(written);
    PlanCost counted = count_cost(plan);
    const CandidateCost& said = found.statements[0].result.best.cost;
    ASSERT_EQ(said.bytes_moved, counted.bytes_moved);
    ASSERT_EQ(said.peak_bytes, counted.peak_bytes_per_processor);
    ASSERT_EQ(said.exchanged_bytes, test::exchange_of(plan).most());
  }
  EXPECT_GT(found_given, 300);
}

// A pure function: the same every time.
TEST(Find, FindsTheSameAgain) {
  Random random{std::mt19937(5)};
  for (int round = 0; round < 50; ++round) {
    Module module = test::parse_text(random_program(random, 3));
    FoundProgram once = find_what_is_left_out(module, bind(module, {}), least_bytes());
    FoundProgram again = find_what_is_left_out(module, bind(module, {}), least_bytes());
    ASSERT_EQ(once.module, again.module);
  }
}

// A found grid stands behind the number of processors, and formats that were given for the line stay on it.
TEST(Find, WritesTheGridThatItFound) {
  Module module = test::parse_text(R"(param n = 64
machine M = 7 processors
tensor A(n, n) on M
tensor B(n, n) : xy -> x on M
tensor C(n, n) on M
A(i, j) = B(i, k) * C(k, j)
)");
  FoundProgram found = find_what_is_left_out(module, bind(module, {}), least_bytes());
  std::string text = to_string(found.module);
  EXPECT_NE(text.find("machine M = 7 processors as "), std::string::npos) << text;
  EXPECT_NE(text.find("tensor B(n, n) : xy -> x on Grid(7)\n"), std::string::npos) << text;
  EXPECT_EQ(test::plan_text(text).processors, 7);
}

// A schedule that names processors without a grid takes them as a line, and so does what is found beside it.
TEST(Find, AGivenScheduleKeepsTheLine) {
  Module module = test::parse_text(R"(machine M = 6 processors
tensor a(12) on M
tensor b(12) on M
tensor A(12, 12) on M
tensor B(12, 12) on M
A(i, j) = B(i, j)
a(i) = b(i)
schedule
  distribute(i, io, ii, M)
)");
  FoundProgram found = find_what_is_left_out(module, {}, least_bytes());
  ASSERT_EQ(found.statements.size(), 1);
  EXPECT_EQ(found.module.machines, module.machines);
  EXPECT_EQ(found.statements[0].result.best.candidate.levels.size(), 1);
}

TEST(Find, LaterStatementsKeepTheFormatsOfEarlierOnes) {
  Module module = test::parse_text(R"(machine M = Grid(4)
tensor A(8, 9) on M
tensor B(8, 9) on M
tensor c(9) on M
A(i, j) = B(i, j)
c(j) = A(i, j)
)");
  FoundProgram found = find_what_is_left_out(module, {}, least_bytes());
  ASSERT_EQ(found.statements.size(), 2);
  EXPECT_EQ(found.statements[1].shape.tensors[0].given, nullptr);
  EXPECT_NE(found.statements[1].shape.tensors[1].given, nullptr);
}

// The word `schedule` without a command means: as written.
TEST(Find, AnEmptyScheduleIsGiven) {
  const std::string text = R"(machine M = Grid(2)
tensor a(4) : x -> x on M
tensor b(4) : x -> x on M
a(i) = b(i)
)";
  Module written = test::parse_text(text + "schedule\n");
  EXPECT_FALSE(leaves_something_out(written));
  EXPECT_EQ(find_what_is_left_out(written, {}, least_bytes()).module, written);
  Module free = test::parse_text(text);
  EXPECT_TRUE(leaves_something_out(free));
  FoundProgram found = find_what_is_left_out(free, {}, least_bytes());
  EXPECT_FALSE(leaves_something_out(found.module));
  EXPECT_EQ(found.statements.size(), 1);
}

TEST(Find, SaysWhyAStatementStaysAsItIs) {
  auto why = [](const std::string& text) {
    Module module = test::parse_text(text);
    FoundProgram found = find_what_is_left_out(module, {}, least_bytes());
    EXPECT_EQ(found.module, module);
    return found.left.empty() ? "" : found.left[0];
  };
  EXPECT_EQ(why("tensor a(4)\ntensor b(4)\na(i) = b(i)\n"), "a(i) = b(i): the program has no machine");
  const std::string machine = "machine M = Grid(2)\n";
  EXPECT_EQ(why(machine + "tensor a(4) on M\ntensor B(4, 4) on M\na(i) = B(i, i)\n"),
            "a(i) = B(i, i): B(i, i) repeats an index");
  EXPECT_EQ(why(machine + "tensor A(4, 4) on M\ntensor B(4, 4) on M\nA(i, j) = B(i, k) * B(k, j)\n"),
            "A(i, j) = B(i, k) * B(k, j): B is accessed with different indices");
  EXPECT_EQ(why(machine + "tensor a(4) : x -> * on M\ntensor b(4) on M\na(i) = b(i)\n"),
            "a(i) = b(i): the given format of a has replicas");
  EXPECT_EQ(why("tensor a(4) on Grid(2)\ntensor b(4) on Grid(2)\na(i) = b(i)\n"),
            "a(i) = b(i): its machine has no name");
}

}  // namespace
}  // namespace distal::core
