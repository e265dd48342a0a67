// The schedule that moves a tensor into another format. tests/api runs such schedules.

#include "schedule/redistribute.h"

#include <gtest/gtest.h>

#include "schedule/schedule.h"
#include "support/layouts.h"

namespace distal::core {
namespace {

std::string recipe(const std::string& dimensions, const std::string& format) {
  Module module = test::parse_text("tensor A" + dimensions + " : " + format + "\ntensor B" + dimensions +
                                   "\ntensor other\nother = 1\n");
  ScheduledStatement made = redistribution(module.tensors[0], "B");
  apply_schedule(module, made);  // every command is legal
  std::string out = to_string(made.statement) + "\n";
  for (const Command& c : made.schedule) out += to_string(c) + "\n";
  return out;
}

TEST(Recipe, FollowsTheDestination) {
  EXPECT_EQ(recipe("(8, 8)", "xy -> yx on Grid(2, 2)"),
            "A(i, j) = B(i, j)\n"
            "distribute({j, i}, {jo, io}, {ji, ii}, A)\n"
            "reorder({ii, ji})\n"
            "communicate({A, B}, io)\n");
}

TEST(Recipe, StoresInTheOrderOfTheDestination) {
  EXPECT_EQ(recipe("(8, 8)", "xy -> x on Grid(2) order(1, 0)"),
            "A(i, j) = B(i, j)\n"
            "distribute({i}, {io}, {ii}, A)\n"
            "reorder({j, ii})\n"
            "communicate({A, B}, io)\n");
}

TEST(Recipe, OneStepPerRoundOfACyclicDistribution) {
  EXPECT_EQ(recipe("(8, 8)", "xy -> xy cyclic(x = 2, y) on Grid(2, 2)"),
            "A(i, j) = B(i, j)\n"
            "distribute({i, j}, {io, jo}, {ii, ji}, A)\n"
            "communicate({A, B}, j_round)\n");
}

TEST(Recipe, WithoutAPartitionTheWholeTensorIsOneStep) {
  EXPECT_EQ(recipe("(8, 8)", "xy -> 1* on Grid(2, 2)"),
            "A(i, j) = B(i, j)\n"
            "distribute({}, {}, {}, -> 1* on A)\n"
            "divide(i, io, ii, 1)\n"
            "communicate({A, B}, io)\n");
  EXPECT_EQ(recipe("", "-> 1* on Grid(2, 2)"), "A = B\ndistribute({}, {}, {}, -> 1* on A)\n");
}

TEST(Recipe, ElementByElementWhereALevelPartitionsACyclicDimension) {
  EXPECT_EQ(recipe("(29)", "x -> x cyclic(x = 3), x -> x on Grid(2) of Grid(3)"),
            "A(i) = B(i)\n"
            "distribute({i}, {io}, {ii}, A[0])\n"
            "collapse(i_round, ii, ii_piece)\n"
            "distribute({ii_piece}, {ii_pieceo}, {ii_piecei}, A[1])\n"
            "communicate({A, B}, ii_piecei)\n");
}

TEST(Recipe, FitsEveryLayout) {
  for (const test::Layout& layout : test::all_layouts()) {
    SCOPED_TRACE(layout.name);
    std::string size = layout.dimensions.empty() ? "" : "(" + layout.dimensions + ")";
    recipe(size, layout.distribution + " on " + layout.machine);
  }
}

}  // namespace
}  // namespace distal::core
