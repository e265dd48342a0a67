// Tensors of one statement on different grids of the same processors.

#include <gtest/gtest.h>

#include "plan/certificate.h"
#include "support/programs.h"

namespace distal::core {
namespace {

using test::cost_of_text;
using test::plan_text;

constexpr int64_t kDouble = 8;

// A GEMM whose operand B lies by rows on a line of processors.
std::string rows_and_tiles(const std::string& line, const std::string& tiles) {
  return "machine L = " + line + "\nmachine T = " + tiles + R"(
tensor A(12, 12) : xy -> xy on T
tensor B(12, 12) : xy -> x on L
tensor C(12, 12) : xy -> xy on T
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute({i, j}, {io, jo}, {ii, ji}, T)
  communicate({A, B, C}, jo)
)";
}

TEST(Grids, ProcessorsHaveTheSameNumbers) {
  PlanCost cost = cost_of_text(rows_and_tiles("Grid(4)", "Grid(2, 2)"));
  // Each processor has three of the six rows of B that it needs, in the order of their numbers.
  EXPECT_EQ(cost.tensors.at("B").bytes, 4 * 3 * 12 * kDouble);
  EXPECT_EQ(cost.tensors.at("C").bytes, 4 * 6 * 6 * kDouble);
  EXPECT_EQ(cost.tensors.at("A").bytes, 0);
}

TEST(Grids, LevelsAreNumberedInOneRow) {
  PlanCost flat = cost_of_text(rows_and_tiles("Grid(4)", "Grid(2, 2)"));
  PlanCost two = cost_of_text(rows_and_tiles("Grid(4)", "4 processors as Grid(2, 2)"));
  EXPECT_EQ(two.bytes_moved, flat.bytes_moved);
  std::string text = rows_and_tiles("Grid(2) of Grid(2)", "Grid(2, 2)");
  text.replace(text.find("xy -> x on L"), 12, "xy -> x, xy -> x on L");
  EXPECT_EQ(cost_of_text(text).bytes_moved, flat.bytes_moved);
}

TEST(Grids, IdleProcessorsOwnNothingAndCount) {
  std::string text = rows_and_tiles("5 processors", "5 processors as Grid(2, 2)");
  Plan plan = plan_text(text);
  EXPECT_EQ(plan.processors, 5);
  EXPECT_EQ(plan.stages[0].machine.processors, 4);
  Certificate c = certificates(plan)[0];
  EXPECT_EQ(c.processors, 5);
  EXPECT_NE(c.bound.find("1 processor owns: A 0, B 0, C 0"), std::string::npos) << c.bound;
  EXPECT_LE(c.lower_bound_bytes, c.exchanged_bytes);
}

TEST(Grids, TheScheduleNamesTheMachine) {
  auto machine = [](const std::string& schedule) {
    return to_string(plan_text("machine L = Grid(4)\nmachine T = Grid(2, 2)\ntensor A(8, 8) : xy -> xy on T\n"
                               "tensor B(8, 8) : xy -> x on L\nA(i, j) = 2 * B(i, j)\n" +
                               schedule)
                         .program->stages[0]
                         .machine);
  };
  EXPECT_EQ(machine(""), "Grid(2, 2)");
  EXPECT_EQ(machine("schedule\n  distribute({i, j}, {io, jo}, {ii, ji}, T)\n"), "Grid(2, 2)");
  EXPECT_EQ(machine("schedule\n  distribute(i, io, ii, L)\n"), "Grid(4)");
  EXPECT_EQ(machine("schedule\n  distribute(i, io, ii, B)\n"), "Grid(4)");
}

// A copy may run where its source lives.
TEST(Grids, ACopyRunsWhereItsScheduleSays) {
  PlanCost cost = cost_of_text(R"(machine L = Grid(4)
machine T = Grid(2)
tensor a(8) : x -> x on T
tensor b(8) : x -> x on L
a(i) = b(i)
schedule
  distribute(i, io, ii, b)
  communicate({a, b}, io)
)");
  EXPECT_EQ(cost.tensors.at("b").bytes, 0);
  EXPECT_EQ(cost.tensors.at("a").bytes, 3 * 2 * kDouble);
}

}  // namespace
}  // namespace distal::core
