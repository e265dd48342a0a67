#include "tune/find.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "plan/certificate.h"
#include "plan/exchange.h"
#include "plan/verify.h"
#include "plan/work.h"
#include "tune/find_parts.h"
#include "tune/random_statements.h"

namespace distal::core {
namespace {

using test::Random;
using test::random_program;

FindOptions least_bytes() { return {Goal::Bytes, {}, model_of_engine("mpi")}; }

// The costs that the search reports for the parts of a program are those that its plan counts.
void expect_counts(const FoundProgram& found, const Bindings& params, const Plan& plan) {
  PlanCost counted = count_cost(plan);
  int64_t moved = 0;
  size_t s = 0;
  for (const StagePlan& stage : plan.stages) {
    const std::string& output = stage.stage->source.statement.lhs.tensor;
    if (output.find("_before") != std::string::npos) continue;  // a copy in place
    ASSERT_LT(s, found.statements.size());
    const FoundStatement& part = found.statements[s++];
    moved += part.result.best.cost.bytes_moved;
    ASSERT_EQ(part.statement.lhs, stage.stage->source.statement.lhs);
    std::vector<int64_t> exchanged = exchanged_bytes(plan, stage, units_of(plan, stage));
    ASSERT_EQ(part.result.best.cost.exchanged_bytes, *std::max_element(exchanged.begin(), exchanged.end()));
  }
  ASSERT_EQ(s, found.statements.size());
  ASSERT_EQ(moved, counted.bytes_moved);
  ASSERT_GE(memory_of(found.module, params, found.statements), counted.peak_bytes_per_processor);
  if (found.statements.size() > 1 || found.statements[0].shape.tensors.size() < plan.tensors.size()) return;
  // Of a copy in a rotated loop, it is only known that it may need a second buffer.
  const Candidate& candidate = found.statements[0].result.best.candidate;
  bool rotates = std::any_of(candidate.loops.begin(), candidate.loops.end(),
                             [](const SequentialLoop& loop) { return loop.is_rotated; });
  if (rotates) return;
  ASSERT_EQ(found.statements[0].result.best.cost.peak_bytes, counted.peak_bytes_per_processor);
}

// The found program parses, keeps what was given, and exchanges, moves and holds what the search reports, for all
// combinations of given and free formats.
TEST(Find, CountsWhatThePlanCounts) {
  Random random{std::mt19937(4)};
  int64_t found_given = 0, split = 0;
  for (int round = 0; round < 600; ++round) {
    std::string text = random_program(random, round % 3 == 0 ? 0 : 6);
    SCOPED_TRACE(text);
    Module module = test::parse_text(text);
    FoundProgram found = find_what_is_left_out(module, bind(module, {}), least_bytes());
    ASSERT_EQ(found.left, std::vector<std::string>{});
    std::string written = to_string(found.module);
    SCOPED_TRACE(written);
    ASSERT_EQ(test::parse_text(written), test::parse_text(to_string(test::parse_text(written))));
    for (size_t t = 0; t < module.tensors.size(); ++t) {
      if (has_free_format(module.tensors[t])) continue;
      // A format that was given for processors without a grid is on Grid(P) once the grid is found.
      if (!module.machines[0].is_free) {
        ASSERT_EQ(module.tensors[t], found.module.tensors[t]);
      }
      ASSERT_EQ(module.tensors[t].distribution, found.module.tensors[t].distribution);
      ++found_given;
    }
    Plan plan = test::plan_text(written);
    expect_counts(found, bind(module, {}), plan);
    split += found.statements.size() > 1;
  }
  EXPECT_GT(found_given, 300);
  EXPECT_GT(split, 50);
}

// The same for accesses of all kinds, and for outputs with replicas. The lower bound is not more than that.
TEST(Find, CountsWhatThePlanCountsOfAllAccesses) {
  Random random{std::mt19937(31)};
  std::map<std::string, int> kinds;
  for (int round = 0; round < 600; ++round) {
    std::string text = test::RandomAccesses(random).program();
    SCOPED_TRACE(text);
    Module module = test::parse_text(text);
    FoundProgram found = find_what_is_left_out(module, bind(module, {}), least_bytes());
    ASSERT_EQ(found.left, std::vector<std::string>{});
    std::string written = to_string(found.module);
    SCOPED_TRACE(written);
    Plan plan = test::plan_text(written);
    expect_counts(found, bind(module, {}), plan);
    for (const FoundStatement& part : found.statements) {
      kinds["replicas"] += part.shape.has_replicas();
      kinds["not simple"] += !part.shape.has_simple_accesses();
      kinds["reads its output"] += reads_output(part.statement);
    }
    for (const Certificate& c : certificates(plan)) ASSERT_LE(c.lower_bound_bytes, c.exchanged_bytes);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(kinds["replicas"], 40);
  EXPECT_GT(kinds["not simple"], 200);
  EXPECT_GT(kinds["reads its output"], 80);
}

// The same with less memory, so that processors go through their tiles in steps.
TEST(Find, CountsWhatThePlanCountsOfSteps) {
  Random random{std::mt19937(37)};
  std::map<std::string, int> kinds;
  for (int round = 0; round < 300; ++round) {
    std::string text = round % 3 == 0   ? test::RandomAccesses(random).program()
                       : round % 3 == 1 ? test::random_blocks(random)
                                        : random_program(random, 6);
    SCOPED_TRACE(text);
    Module module = test::parse_text(text);
    Bindings params = bind(module, {});
    FindOptions options = least_bytes();
    if (random.pick(0, 1) == 0) options.goal = Goal::Time;
    FoundProgram found = test::find_with_steps(module, params, options, random);
    std::string written = to_string(found.module);
    SCOPED_TRACE(written);
    Plan plan = test::plan_text(written);
    ASSERT_NO_THROW(verify(plan, memory_needs(plan, Reach::own())));
    expect_counts(found, params, plan);
    if (HasFatalFailure()) return;
    for (const FoundStatement& part : found.statements) {
      const Candidate& candidate = part.result.best.candidate;
      if (candidate.loops.empty()) continue;
      for (const SequentialLoop& loop : candidate.loops) kinds["rotated"] += loop.is_rotated;
      ++kinds["steps"];
      kinds["steps in blocks"] += candidate.is_cyclic();
      kinds["steps, not simple"] += !part.shape.has_simple_accesses();
    }
  }
  EXPECT_GT(kinds["steps"], 100);
  EXPECT_GT(kinds["rotated"], 10);
  EXPECT_GT(kinds["steps in blocks"], 50);
  EXPECT_GT(kinds["steps, not simple"], 20);
}

// For the goal of bytes, a product is split only if the parts exchange less in all than the whole does.
TEST(Find, SplitsForFewerBytes) {
  Random random{std::mt19937(8)};
  int split = 0;
  for (int round = 0; round < 300; ++round) {
    Module module = test::parse_text(random_program(random, 3));
    Bindings params = bind(module, {});
    const Statement& statement = module.statements[0].statement;
    FindOptions options = least_bytes();
    Split whole = splits_of(module, statement, params, module.machines[0])[0];
    ASSERT_TRUE(whole.workspaces.empty());
    FoundParts fused = find_parts(module, statement, whole, module.machines[0], params, options, 0);
    FoundProgram found = find_what_is_left_out(module, params, options);
    int64_t exchanged = 0;
    for (const FoundStatement& part : found.statements) exchanged += part.result.best.cost.exchanged_bytes;
    SCOPED_TRACE(to_string(found.module));
    ASSERT_LE(exchanged, fused.exchanged_bytes());
    if (found.statements.size() == 1) continue;
    ASSERT_LT(exchanged, fused.exchanged_bytes());
    ++split;
  }
  EXPECT_GT(split, 10);
}

// Two statements, of which the second one uses a tensor of the first one.
std::string random_program_of_two(Random& random) {
  std::string text = random_program(random, 3);
  Module module = test::parse_text(text);
  const Tensor& output = module.tensors[0];
  std::string sizes, indices;
  for (size_t d = 0; d < output.dimensions.size(); ++d) {
    sizes += (d > 0 ? ", " : "(") + output.dimensions[d].to_string();
    indices += (d > 0 ? ", " : "(") + std::string(1, static_cast<char>('i' + d));
  }
  if (!sizes.empty()) sizes += ")", indices += ")";
  size_t statement = text.find('\n' + to_string(module.statements[0].statement));
  text.insert(statement + 1, fmt::format("tensor Z{} on M\n", sizes));
  return text + fmt::format("Z{0} = A{0}\n", indices);
}

// No processor needs more memory than it may have, in programs of several statements and in split ones. A refusal says
// how much memory would do.
TEST(Find, KeepsTheCapOnMemory) {
  Random random{std::mt19937(9)};
  int refused = 0, kept = 0;
  for (int round = 0; round < 200; ++round) {
    std::string text = random_program_of_two(random);
    SCOPED_TRACE(text);
    Module module = test::parse_text(text);
    FindOptions options = least_bytes();
    if (round % 2 == 0) options.goal = Goal::Time;
    int64_t free =
        count_cost(test::plan_text(to_string(find_what_is_left_out(module, bind(module, {}), options).module)))
            .peak_bytes_per_processor;
    options.memory_bytes = random.pick(free / 2, free);
    try {
      FoundProgram found = find_what_is_left_out(module, bind(module, {}), options);
      ASSERT_LE(count_cost(test::plan_text(to_string(found.module))).peak_bytes_per_processor, *options.memory_bytes);
      ++kept;
    } catch (const DoesNotFit& refusal) {
      ASSERT_GT(refusal.least_bytes(), *options.memory_bytes);
      options.memory_bytes = refusal.least_bytes();
      FoundProgram found = find_what_is_left_out(module, bind(module, {}), options);
      ASSERT_LE(count_cost(test::plan_text(to_string(found.module))).peak_bytes_per_processor, *options.memory_bytes);
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(kept, 20);
}

// On one processor and without a machine, a product is split where that saves flops.
TEST(Find, SplitsProductsWithoutAMachine) {
  const std::string text = R"(param n = 10
tensor A(n, n)
tensor B(n, n)
tensor C(n, n)
tensor D(n, n)
A(i, j) = B(i, k) * C(k, l) * D(l, j)
)";
  Module module = test::parse_text(text);
  FindOptions options{Goal::Time, {}, model_of_engine("threads")};
  FoundProgram found = find_what_is_left_out(module, bind(module, {}), options);
  EXPECT_EQ(found.statements.size(), 2);
  EXPECT_EQ(found.left, std::vector<std::string>{});
  EXPECT_NE(to_string(found.module).find("  precompute(B(i, k) * C(k, l), {i, l}, {iw, lw}, A1)\n"), std::string::npos)
      << to_string(found.module);
  EXPECT_EQ(count_cost(test::plan_text(to_string(found.module))).bytes_moved, 0);
}

// Sums of products: each term by itself. An index that several terms sum over is not summed by a part.
TEST(Find, SplitsEachTerm) {
  const std::string tensors = "param n = 10\ntensor A(n, n)\ntensor B(n, n)\ntensor C(n, n)\ntensor D(n, n)\n";
  FindOptions options{Goal::Time, {}, model_of_engine("threads")};
  auto statements = [&](const std::string& statement) {
    Module module = test::parse_text(tensors + statement + "\n");
    FoundProgram found = find_what_is_left_out(module, bind(module, {}), options);
    test::plan_text(to_string(found.module));
    return std::max<size_t>(1, found.statements.size());
  };
  EXPECT_EQ(statements("A(i, j) = 2 * B(i, k) * C(k, l) * D(l, j) - D(i, m) * C(m, o) * B(o, j)"), 3);
  EXPECT_EQ(statements("A(i, j) = B(i, k) * C(k, l) * D(l, j) - D(i, k) * C(k, l) * B(l, j)"), 1);
  EXPECT_EQ(statements("A(i, j) = B(i, k) * C(k, l) * D(l, m) * D(m, j) - D(i, k) * B(k, j)"), 3);
}

// A given schedule keeps its words, and free tensors get the formats that move the fewest bytes under it.
TEST(Find, FormatsForGivenSchedules) {
  auto program = [](const std::string& format) {
    return test::parse_text(fmt::format(R"(param n = 12
machine M = Grid(2, 3)
tensor A(n, n) {0}on M
tensor B(n, n) {0}on M
tensor C(n, n) {0}on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute({{i, j}}, {{io, jo}}, {{ii, ji}}, M)
  communicate({{A, B, C}}, jo)
)",
                                        format));
  };
  Module module = program("");
  EXPECT_TRUE(leaves_something_out(module));
  FoundProgram found = find_what_is_left_out(module, bind(module, {}), least_bytes());
  EXPECT_EQ(found.left, std::vector<std::string>{});
  EXPECT_EQ(found.module.statements, module.statements);
  EXPECT_FALSE(leaves_something_out(found.module));
  auto moved = [](const Module& m) { return count_cost(test::plan_text(to_string(m))).bytes_moved; };
  EXPECT_EQ(moved(found.module), moved(program(": xy -> xy ")));
}

// On a large machine, the formats are those for the same machine with shorter dimensions.
TEST(Find, FormatsForGivenSchedulesOnLargeMachines) {
  auto program = [](const std::string& format) {
    return test::parse_text(fmt::format(R"(param n = 2048, g = 60
machine M = Grid(g, 40)
tensor A(n, n) {0}on M
tensor B(n, n) {0}on M
tensor C(n, n) {0}on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute({{i, j}}, {{io, jo}}, {{ii, ji}}, M)
)",
                                        format));
  };
  Module module = program("");
  double start = test::cpu_seconds();
  FoundProgram found = find_what_is_left_out(module, bind(module, {}), least_bytes());
  EXPECT_LT(test::cpu_seconds() - start, 10);
  EXPECT_EQ(found.left, std::vector<std::string>{});
  EXPECT_EQ(found.module.machines, module.machines);
  EXPECT_FALSE(leaves_something_out(found.module));
  auto moved = [](const Module& m) { return count_cost(test::plan_text(to_string(m))).bytes_moved; };
  EXPECT_EQ(moved(found.module), moved(program(": xy -> xy ")));
}

TEST(Find, SaysForWhichMachinesItFindsFormats) {
  Module module = test::parse_text(R"(machine M = Grid(5000)
machine N = Grid(50, 100)
tensor a(10000) on M
tensor b(10000) : x -> x0 on N
a(i) = b(i)
schedule
  distribute(i, io, ii, M)
)");
  FoundProgram found = find_what_is_left_out(module, {}, least_bytes());
  EXPECT_EQ(found.module, module);
  EXPECT_EQ(found.left, (std::vector<std::string>{
                            "a(i) = b(i): its schedule is given, and on more than 1024 processors formats for it are "
                            "found only if the program has one machine"}));
}

// Under a schedule that was found for other formats, no block format of any tensor moves less than the found one.
TEST(Find, FormatsForGivenSchedulesMoveTheLeast) {
  Random random{std::mt19937(11)};
  int compared = 0;
  for (int round = 0; round < 60; ++round) {
    Module module = test::parse_text(random_program(random, 0));
    Bindings params = bind(module, {});
    FindOptions options = least_bytes();
    if (round % 2 == 0) options.goal = Goal::Time;
    Module whole = find_what_is_left_out(module, params, options).module, open = whole;
    for (Tensor& tensor : open.tensors) {
      if (tensor.machine && random.pick(0, 1) == 0) tensor.distribution.reset();
    }
    SCOPED_TRACE(to_string(open));
    FoundProgram found = find_what_is_left_out(open, params, options);
    ASSERT_EQ(found.module.statements, whole.statements);
    auto moved = [](const Module& m) { return count_cost(test::plan_text(to_string(m))).bytes_moved; };
    // A workspace's format serves two statements, and only blocks are tried.
    if (to_string(whole).find("precompute") != std::string::npos ||
        to_string(whole).find("cyclic") != std::string::npos)
      continue;
    EXPECT_LE(moved(found.module), moved(whole));
    ++compared;
  }
  EXPECT_GT(compared, 5);
}

// Given formats follow no rule that the search knows, so it looks at processors one by one.
TEST(Find, IsFastWithGivenFormats) {
  for (const char* format : {"xy -> y", "xy -> x cyclic(x = 64)"}) {
    Module module = test::parse_text(fmt::format(R"(param n = 65536
machine M = 65521 processors
tensor A(n, n) on M
tensor B(n, n) : {0} on M
tensor C(n, n) : {0} on M
A(i, j) = B(i, k) * C(k, j)
)",
                                                 format));
    double start = test::cpu_seconds();
    find_what_is_left_out(module, bind(module, {}), least_bytes());
    // Five times what is promised, because builds with sanitizers are slower.
    EXPECT_LT(test::cpu_seconds() - start, 10) << format;
  }
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

// A schedule that names processors without a grid takes them as a line. What is found beside it uses this line too.
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
  EXPECT_EQ(why("machine M = Grid(2)\ntensor a(4) on M\ntensor B(4, 0) on M\na(i) = B(i, k)\n"),
            "a(i) = B(i, k): index k has no values");
}

std::string found_text(const std::string& text, const FindOptions& options = least_bytes()) {
  Module module = test::parse_text(text);
  FoundProgram found = find_what_is_left_out(module, bind(module, {}), options);
  EXPECT_EQ(found.left, std::vector<std::string>{});
  return to_string(found.module);
}

int64_t moved_by(const std::string& text) { return count_cost(test::plan_text(text)).bytes_moved; }

// B times its transpose: both factors are rows of B.
TEST(Find, DistributesProductsOfATensorWithItself) {
  std::string text = found_text(R"(param n = 32, m = 4
machine M = 4 processors
tensor A(n, n) on M
tensor B(n, m) on M
A(i, j) = B(i, k) * B(j, k)
)");
  EXPECT_NE(text.find("4 processors as (Grid(2) of Grid(2))"), std::string::npos) << text;
  EXPECT_LT(moved_by(text), 4 * 32 * 4 * 8) << text;
}

// A machine that is only written in place gets a name, for the schedule.
TEST(Find, NamesMachinesThatAreWrittenInPlace) {
  std::string text = found_text("tensor a(4) on Grid(2)\ntensor b(4) : x -> x on Grid(2)\na(i) = b(i)\n");
  EXPECT_NE(text.find("machine M = Grid(2)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor b(4) : x -> x on Grid(2)\n"), std::string::npos) << text;
  EXPECT_EQ(moved_by(text), 0) << text;
  text = found_text("tensor M(6) on 6 processors\ntensor b(6) : x -> x on 6 processors\nM(i) = b(i)\n");
  EXPECT_NE(text.find("machine M1 = 6 processors as Grid(6)\n"), std::string::npos) << text;
  EXPECT_EQ(moved_by(text), 0) << text;
}

// Levels may cut an index again.
TEST(Find, LevelsCutAnIndexTogether) {
  std::string text = found_text("machine M = Grid(2) of Grid(3)\ntensor a(12) on M\ntensor b(12) on M\na(i) = b(i)\n");
  EXPECT_EQ(moved_by(text), 0) << text;
  EXPECT_EQ(processors_with_work(test::plan_text(text)), 6) << text;
}

// To a given distribute of several loops, processors without a grid are a grid of as many dimensions.
TEST(Find, GridsForGivenSchedules) {
  auto program = [](const std::string& machine, const std::string& schedule) {
    return fmt::format(R"(param n = 60
machine M = {}
tensor A(n, n) on M
tensor B(n, n) : xy -> x on M
tensor C(n, n) on M
A(i, j) = B(i, k) * C(k, j)
schedule
{})",
                       machine, schedule);
  };
  const std::string tiles = "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n";
  std::string text = found_text(program("12 processors", tiles));
  EXPECT_NE(text.find("machine M = 12 processors as Grid("), std::string::npos) << text;
  EXPECT_NE(text.find("tensor B(n, n) : xy -> x on Grid(12)\n"), std::string::npos) << text;
  EXPECT_EQ(test::parse_text(text).machines[0].levels[0].extents.size(), 2);
  // One loop takes them as a line.
  text = found_text(program("12 processors", "  distribute(i, io, ii, M)\n"));
  EXPECT_NE(text.find("machine M = 12 processors\n"), std::string::npos) << text;
  // One of 13 may idle, where 13 is a prime number.
  text = found_text(program("13 processors", tiles));
  EXPECT_NE(text.find("machine M = 13 processors as Grid("), std::string::npos) << text;
  // Loops that were made by other commands, and a level by level.
  text = found_text(program("12 processors",
                            "  divide(i, io, ii, 3)\n  divide(j, jo, ji, 4)\n  reorder({io, jo, ii, ji})\n"
                            "  distribute({io, jo}, M)\n"));
  EXPECT_EQ(test::parse_text(text).machines[0].levels[0].extents.size(), 2) << text;
}

}  // namespace
}  // namespace distal::core
