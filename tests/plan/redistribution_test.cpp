// Copies from every layout to every other. The statement is distributed onto the layout of the destination.

#include <gtest/gtest.h>

#include "support/layouts.h"
#include "support/run.h"

namespace distal::core {
namespace {

using test::Layout;

const char* const kMachine = "Grid(2, 3)";

// A layout on one machine, and a schedule that computes every element at its owner.
struct ScheduledLayout {
  Layout layout;
  std::string schedule;
};

std::vector<ScheduledLayout> scheduled_layouts() {
  std::string size = "7, 11";
  std::string tiles = "  distribute({i, j}, {io, jo}, {ii, ji}, A)\n  communicate({A, B}, jo)\n";
  return {
      {{"tiles", size, "xy -> xy", kMachine}, tiles},
      {{"transposed", size, "xy -> yx", kMachine},
       "  distribute({i, j}, {io, jo}, {ii, ji}, A)\n  communicate({A, B}, jo)\n"},
      {{"rows", size, "xy -> x0", kMachine}, "  distribute(i, io, ii, A)\n  communicate({A, B}, io)\n"},
      {{"columns_on_the_other_face", size, "xy -> 1y", kMachine},
       "  distribute(j, jo, ji, A)\n  communicate({A, B}, jo)\n"},
      {{"rows_replicated", size, "xy -> x*", kMachine},
       "  distribute(i, io, ii, x -> x* on A)\n  communicate({A, B}, io)\n"},
      {{"columns_replicated", size, "xy -> *x", kMachine},
       "  distribute(i, io, ii, x -> *x on A)\n  communicate({A, B}, io)\n"},
      {{"everywhere", size, "xy -> **", kMachine}, ""},
      {{"in_a_corner", size, "xy -> 12", kMachine}, ""},
      {{"block_cyclic", size, "xy -> xy cyclic(x = 2, y = 3)", kMachine},
       "  distribute({i, j}, {io, jo}, {ii, ji}, A)\n  communicate({A, B}, j_round)\n"},
      {{"cyclic", size, "xy -> yx cyclic(x, y)", kMachine},
       "  distribute({i, j}, {io, jo}, {ii, ji}, A)\n  communicate({A, B}, i_round)\n"},
      {{"cyclic_rows", size, "xy -> 0x cyclic(x)", kMachine},
       "  distribute(i, io, ii, A)\n  communicate({A, B}, i_round)\n"},
  };
}

std::string program(const Layout& from, const ScheduledLayout& to) {
  return to.layout.declaration("A") + from.declaration("B") + "A(i, j) = B(i, j)\n" +
         (to.schedule.empty() ? "" : "schedule\n" + to.schedule);
}

// The number of elements that processors need for their pieces of A and do not own in B.
int64_t missing_elements(const Ownership& from, const Ownership& to) {
  int64_t missing = 0;
  for (int64_t x = 0; x < to.shape()[0]; ++x) {
    for (int64_t y = 0; y < to.shape()[1]; ++y) {
      std::vector<int64_t> have = from.processors_of(from.colour_of({x, y}));
      for (int64_t p : to.processors_of(to.colour_of({x, y}))) {
        missing += std::find(have.begin(), have.end(), p) == have.end() ? 1 : 0;
      }
    }
  }
  return missing;
}

class Redistribution : public testing::TestWithParam<size_t> {};

TEST_P(Redistribution, FromEveryLayout) {
  ScheduledLayout to = scheduled_layouts()[GetParam()];
  for (const ScheduledLayout& from : scheduled_layouts()) {
    SCOPED_TRACE(from.layout.name + " to " + to.layout.name);
    for (bool own : {false, true}) {
      test::RunOptions options;
      options.own_memory = own;
      options.type = own ? ElementType::ComplexDouble : ElementType::Int32;
      test::TestRun run(program(from.layout, to), "", options);
      run.run_and_check();
      // Each owner has all its elements, bit for bit.
      const Plan& plan = run.plan();
      const Ownership& a = plan.tensors[0].owners;
      const Ownership& b = plan.tensors[1].owners;
      auto size = static_cast<size_t>(plan.tensors[0].element_bytes);
      for (int64_t x = 0; x < 7; ++x) {
        for (int64_t y = 0; y < 11; ++y) {
          const std::byte* want = run.store().element(1, b.first_owner(b.colour_of({x, y})), {x, y});
          for (int64_t p : a.processors_of(a.colour_of({x, y}))) {
            EXPECT_EQ(std::memcmp(run.store().element(0, p, {x, y}), want, size), 0) << x << ", " << y << " on " << p;
          }
        }
      }
      Cost cost = count_cost(plan);
      EXPECT_EQ(run.counts().bytes_moved, cost.bytes_moved);
      if (to.schedule.empty()) continue;
      // The work is done where the result lives, so only missing elements move.
      EXPECT_EQ(cost.bytes_moved, missing_elements(b, a) * static_cast<int64_t>(size));
      EXPECT_EQ(cost.tensors.at("A").bytes, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(To, Redistribution, testing::Range(size_t{0}, scheduled_layouts().size()),
                         [](const auto& tested) { return scheduled_layouts()[tested.param].layout.name; });

TEST(RedistributionInAHierarchy, FromEveryLayout) {
  const std::vector<std::string> layouts{
      "xy -> xy, xy -> xy",
      "xy -> yx, xy -> xy",
      "xy -> x0, xy -> 1y",
      "xy -> **, xy -> xy",
      "xy -> xy, xy -> **",
      "xy -> 01, xy -> 10",
      "xy -> xy cyclic(x = 2, y), xy -> xy cyclic(x)",
      "xy -> *x, xy -> y*",
  };
  for (const std::string& from : layouts) {
    for (const std::string& to : layouts) {
      SCOPED_TRACE(from + " to " + to);
      std::string machine = " on Grid(2, 2) of Grid(2, 2)\n";
      test::RunOptions options;
      options.own_memory = true;
      test::run_text("tensor A(9, 7) : " + to + machine + "tensor B(9, 7) : " + from + machine +
                         "A(i, j) = B(i, j)\nschedule\n  distribute({i, j}, {io, jo}, {ii, ji}, Grid(2, 2))\n"
                         "  distribute({ii, ji}, {iio, jio}, {iii, jii}, Grid(2, 2))\n  communicate({A, B}, jio)\n",
                     "", options);
      test::run_text("tensor A(9, 7) : " + to + machine + "tensor B(9, 7) : " + from + machine +
                         "A(i, j) = B(i, j)\nschedule\n  distribute({i, j}, {io, jo}, {ii, ji}, Grid(2, 2))\n"
                         "  communicate({A, B}, jo)\n  distribute({ii, ji}, {iio, jio}, {iii, jii}, Grid(2, 2))\n",
                     "", options);
    }
  }
}

}  // namespace
}  // namespace distal::core
