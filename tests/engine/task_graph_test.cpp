#include "engine/task_graph.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <stdexcept>

namespace distal::core {
namespace {

class Graphs : public testing::TestWithParam<int> {
 protected:
  int threads() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Threads, Graphs, testing::Values(1, 2, 5));

TEST_P(Graphs, ATaskRunsAfterItsDependencies) {
  TaskGraph graph(threads());
  std::vector<int> order;
  TaskPtr last;
  for (int i = 0; i < 1000; ++i) {
    TaskPtr task = TaskGraph::make([&order, i] { order.push_back(i); });
    graph.submit(task, last ? std::vector<TaskPtr>{last} : std::vector<TaskPtr>{});
    last = task;
  }
  graph.wait();
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[i], i);
  EXPECT_EQ(graph.tasks_run(), 1000);
}

TEST_P(Graphs, WritersAreExclusive) {
  TaskGraph graph(threads());
  Resource resource;
  std::atomic<int> readers{0}, writers{0}, wrong{0};
  int64_t value = 0;
  std::mt19937 random(7);
  int64_t expected = 0;
  for (int i = 0; i < 20000; ++i) {
    bool writes = random() % 5 == 0;
    if (writes) ++expected;
    TaskPtr task = TaskGraph::make([&, writes, seen = expected] {
      if (writes) {
        if (writers++ != 0 || readers != 0) ++wrong;
        ++value;
        --writers;
      } else {
        ++readers;
        if (writers != 0 || value != seen) ++wrong;
        --readers;
      }
    });
    std::vector<TaskPtr> dependencies;
    writes ? resource.add_exclusive(task, dependencies) : resource.add_shared(task, dependencies);
    graph.submit(task, dependencies);
  }
  graph.wait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(value, expected);
}

TEST_P(Graphs, ManyTasksOnManyResources) {
  TaskGraph graph(threads());
  constexpr size_t kResources = 50;
  std::vector<Resource> resources(kResources);
  std::vector<uint64_t> sums(kResources, 0), expected(kResources, 0);
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    size_t from = random() % kResources, to = random() % kResources;
    TaskPtr task =
        TaskGraph::make([&sums, from, to, i] { sums[to] = sums[to] * 3 + sums[from] + static_cast<uint64_t>(i); });
    expected[to] = expected[to] * 3 + expected[from] + static_cast<uint64_t>(i);
    for (uint64_t& x : expected) x &= 0xffff;
    std::vector<TaskPtr> dependencies;
    if (from != to) resources[from].add_shared(task, dependencies);
    resources[to].add_exclusive(task, dependencies);
    graph.submit(task, dependencies);
    if (i % 100 == 99) {  // keeps the numbers small
      graph.wait();
      for (uint64_t& x : sums) x &= 0xffff;
      ASSERT_EQ(sums, expected) << i;
    }
  }
  graph.wait();
}

TEST_P(Graphs, AFailureComesOutWithItsReason) {
  TaskGraph graph(threads());
  std::atomic<int> after{0};
  std::string said;
  try {
    TaskPtr bad = TaskGraph::make([] { throw std::runtime_error("enough"); });
    graph.submit(bad, {});
    for (int i = 0; i < 100000; ++i) graph.submit(TaskGraph::make([&] { ++after; }), {bad});
    graph.wait();
  } catch (const std::runtime_error& e) {
    said = e.what();
  }
  EXPECT_EQ(said, "enough");
  EXPECT_EQ(after, 0);  // no task runs after it
}

TEST_P(Graphs, TheFirstOfManyFailuresWins) {
  TaskGraph graph(threads());
  int failures = 0;
  for (int i = 0; i < 100; ++i) {
    try {
      graph.submit(TaskGraph::make([] { throw std::runtime_error("no"); }), {});
      graph.wait();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "no");
      ++failures;
    }
  }
  EXPECT_EQ(failures, 100);
}

TEST_P(Graphs, CanBeDestroyedWithoutWaiting) {
  std::atomic<int> run{0};
  for (int i = 0; i < 20; ++i) {
    TaskGraph graph(threads());
    TaskPtr last;
    for (int t = 0; t < 10; ++t) {
      TaskPtr task = TaskGraph::make([&] { ++run; });
      graph.submit(task, last ? std::vector<TaskPtr>{last} : std::vector<TaskPtr>{});
      last = task;
    }
  }
  EXPECT_LE(run, 200);
}

TEST_P(Graphs, WaitingWithNothingToDo) {
  TaskGraph graph(threads());
  graph.wait();
  graph.wait();
  EXPECT_EQ(graph.tasks_run(), 0);
}

TEST(Resources, DependenciesOfReadersAndWriters) {
  Resource r;
  auto task = [] { return TaskGraph::make([] {}); };
  TaskPtr write1 = task(), read1 = task(), read2 = task(), write2 = task(), read3 = task();
  std::vector<TaskPtr> d;
  r.add_exclusive(write1, d);
  EXPECT_TRUE(d.empty());
  r.add_shared(read1, d);
  EXPECT_EQ(d, std::vector<TaskPtr>{write1});
  d.clear();
  r.add_shared(read2, d);
  EXPECT_EQ(d, std::vector<TaskPtr>{write1});
  d.clear();
  r.add_exclusive(write2, d);
  EXPECT_EQ(d, (std::vector<TaskPtr>{write1, read1, read2}));
  d.clear();
  r.add_shared(read3, d);
  EXPECT_EQ(d, std::vector<TaskPtr>{write2});
}

}  // namespace
}  // namespace distal::core
