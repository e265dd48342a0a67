// A tiered leaf begins with a kernel that is cheap to make. After enough runs it switches to one that is fast.

#include "leaf/tiered.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "distal/error.h"
#include "leaf/leaf.h"
#include "support/run.h"

namespace distal::core {
namespace {

struct CountingLeaf : LeafKernel {
  CountingLeaf(std::string called, std::atomic<int>& counter) : name(std::move(called)), runs(counter) {}
  void run(const LeafArguments&) const override { ++runs; }
  std::string description() const override { return name; }

  std::string name;
  std::atomic<int>& runs;
};

struct Tiers {
  std::atomic<int> first{0}, second{0}, made{0};

  std::unique_ptr<LeafKernel> leaf(double points, double allowance) {
    return make_tiered_leaf(std::make_unique<CountingLeaf>("first", first), points, allowance, [this] {
      ++made;
      return std::make_unique<CountingLeaf>("second", second);
    });
  }
};

TEST(TieredLeaf, SwitchesAfterItsAllowance) {
  Tiers tiers;
  auto leaf = tiers.leaf(10, 35);
  for (int i = 0; i < 3; ++i) leaf->run({});
  EXPECT_EQ(leaf->description(), "first");
  EXPECT_EQ(tiers.made, 0);
  for (int i = 0; i < 3; ++i) leaf->run({});
  EXPECT_EQ(leaf->description(), "second");
  EXPECT_EQ(tiers.first, 3);
  EXPECT_EQ(tiers.second, 3);
  EXPECT_EQ(tiers.made, 1);
}

TEST(TieredLeaf, StaysIfTheSecondCannotBeMade) {
  std::atomic<int> runs{0}, tries{0};
  auto leaf =
      make_tiered_leaf(std::make_unique<CountingLeaf>("first", runs), 10, 5, [&]() -> std::unique_ptr<LeafKernel> {
        ++tries;
        throw Error("no compiler");
      });
  for (int i = 0; i < 4; ++i) leaf->run({});
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(tries, 1);
}

TEST(TieredLeaf, IsMadeOnceByManyThreads) {
  Tiers tiers;
  auto leaf = tiers.leaf(1, 100);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) leaf->run({});
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(tiers.made, 1);
  EXPECT_EQ(tiers.first + tiers.second, 4000);
  EXPECT_GT(tiers.second, 0);
}

struct GainsFromJoining : CountingLeaf {
  using CountingLeaf::CountingLeaf;
  bool can_overwrite() const override { return true; }
  bool gains_from_joining() const override { return true; }
  void run_joined(std::span<const LeafArguments>) const override { ++runs; }
};

TEST(TieredLeaf, JoinsIfTheSecondGainsFromIt) {
  std::atomic<int> first = 0, second = 0;
  auto leaf = make_tiered_leaf(std::make_unique<CountingLeaf>("first", first), 10, 25,
                               [&] { return std::make_unique<GainsFromJoining>("second", second); });
  EXPECT_FALSE(leaf->gains_from_joining());
  leaf->run_joined(std::vector<LeafArguments>(3));
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 1);
  EXPECT_TRUE(leaf->gains_from_joining());
  leaf->run_joined(std::vector<LeafArguments>(3));
  EXPECT_EQ(second, 2);
}

// After enough runs the leaf is compiled. Where tests are built there is a compiler.
TEST(TieredLeaf, ATinyKernelThatRunsOftenIsCompiled) {
  const std::string text =
      "param n = 60\nmachine M = Grid(2)\ntensor A(n, n) : xy -> x on M\ntensor B(n, n) : xy -> x on M\n"
      "tensor C(n, n) : xy -> x on M\ntensor D(n, n) : xy -> * on M\n"
      "A(i, j) = B(i, j) * C(i, k) * D(k, j)\nschedule\n  distribute(i, io, ii, M)\n  communicate({A, B, C, D}, io)\n";
  auto plan = std::make_unique<Plan>(test::plan_module(test::parse_text(text), {}, PlanOptions{true}));
  Leaves leaves;
  leaves.push_back(make_leaf(plan->stages[0], ElementType::Double, LeafChoice::Automatic));
  const LeafKernel& leaf = *leaves[0];
  EXPECT_EQ(leaf.description(), "interpreted");
  test::TestRun run(std::move(plan), {}, std::move(leaves));
  for (int i = 0; i < 12; ++i) run.run_and_check();
  EXPECT_TRUE(leaf.description().starts_with("register blocks")) << leaf.description();
}

}  // namespace
}  // namespace distal::core
