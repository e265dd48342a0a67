#include "engine/replay.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <stdexcept>

#include "engine/script.h"
#include "engine/statements.h"
#include "support/run.h"

namespace distal::core {
namespace {

using test::algorithm_text;
using test::RunOptions;
using test::TestRun;

// ---- scripts ----

// A script of random tasks. Each task checks that it runs after its dependencies.
class CheckedScript {
 public:
  CheckedScript(int tasks, int most_before, uint32_t seed) : ended_(static_cast<size_t>(tasks)) {
    std::mt19937 random(seed);
    std::vector<TaskPtr> made;
    for (int t = 0; t < tasks; ++t) {
      std::vector<TaskPtr> before;
      for (uint32_t i = 0; t > 0 && i < random() % static_cast<uint32_t>(most_before + 1); ++i) {
        before.push_back(made[random() % static_cast<size_t>(t)]);
      }
      int64_t number = script.add([this, t, before] { run(t, before); });
      script.set_dependencies(before);
      made.push_back(TaskGraph::make({}, number));
    }
    script.finish();
  }

  void expect_all_ran(int times) const {
    EXPECT_EQ(wrong, 0);
    for (const auto& e : ended_) EXPECT_EQ(e, times);
  }

  Script script;
  std::atomic<int> wrong{0};
  std::atomic<int> fails_at{-1};

 private:
  void run(int task, const std::vector<TaskPtr>& before) {
    for (const TaskPtr& b : before) {
      if (ended_[static_cast<size_t>(b->number)] <= ended_[static_cast<size_t>(task)]) ++wrong;
    }
    if (task == fails_at) throw std::runtime_error("enough");
    ++ended_[static_cast<size_t>(task)];
  }

  std::vector<std::atomic<int>> ended_;
};

class Scripts : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, Scripts, testing::Values(1, 2, 5));

TEST_P(Scripts, RunEveryTaskAfterThoseItWaitsFor) {
  Team crew(GetParam());
  for (int most_before : {0, 1, 4}) {
    CheckedScript checked(500, most_before, static_cast<uint32_t>(most_before));
    for (int i = 1; i <= 20; ++i) {
      checked.script.run_on(crew);
      checked.expect_all_ran(i);
    }
  }
}

TEST_P(Scripts, AFailureComesOutAndTheScriptRunsAgain) {
  Team crew(GetParam());
  for (int bad : {0, 17, 99}) {
    CheckedScript checked(100, 3, 5);
    checked.fails_at = bad;
    EXPECT_EQ(test::message_of<std::runtime_error>([&] { checked.script.run_on(crew); }), "enough");
    EXPECT_EQ(test::message_of<std::runtime_error>([&] { checked.script.run_on(crew); }), "enough");
  }
}

TEST(Scripts, KnowWhenTasksRunOneAfterAnother) {
  auto chain = [](std::vector<int> waits_for) {
    Script script;
    std::vector<TaskPtr> made;
    for (int before : waits_for) {
      int64_t number = script.add([] {});
      script.set_dependencies(before < 0 ? std::vector<TaskPtr>{} : std::vector<TaskPtr>{made[before]});
      made.push_back(TaskGraph::make({}, number));
    }
    script.finish();
    return script.is_chain();
  };
  EXPECT_TRUE(chain({}));
  EXPECT_TRUE(chain({-1}));
  EXPECT_TRUE(chain({-1, 0, 1}));
  EXPECT_FALSE(chain({-1, -1}));
  EXPECT_FALSE(chain({-1, 0, 0}));
}

// A resource forgets users that have ended, unless they are tasks of a script: the script needs all dependencies.
TEST(Scripts, AResourceKeepsTheirTasks) {
  TaskGraph graph(1);
  for (int64_t first : {int64_t{0}, int64_t{-1}}) {
    Resource resource;
    std::vector<TaskPtr> dependencies;
    for (int64_t i = 0; i < 1000; ++i) {
      TaskPtr task = TaskGraph::make([] {}, first < 0 ? -1 : i);
      resource.add_shared(task, dependencies);
      graph.submit(task, {});
    }
    resource.add_exclusive(TaskGraph::make([] {}), dependencies);
    if (first < 0) {
      EXPECT_LT(dependencies.size(), 100u);
    } else {
      EXPECT_EQ(dependencies.size(), 1000u);
    }
  }
}

// ---- the engine ----

struct Program {
  const char* name;
  const char* settings;
};

const Program kPrograms[] = {
    {"summa", "ni=11,nj=13,nk=17,gx=1,gy=1,chunk=4"}, {"summa", "ni=11,nj=13,nk=17,gx=2,gy=3,chunk=4"},
    {"cannon", "ni=11,nj=13,nk=17,gx=3,gy=3"},        {"johnson", "ni=11,nj=13,nk=17,gx=2,gy=3,gz=2"},
    {"solomonik", "ni=11,nj=13,nk=17,g=3,c=2"},       {"mttkrp", "ni=7,nj=4,nk=9,nl=5,gx=2,gy=3,gz=2"}};

class Replays : public testing::TestWithParam<int> {
 protected:
  RunOptions options(bool own) const {
    RunOptions out;
    out.threads = GetParam();
    out.own_memory = own;
    out.leaf = LeafChoice::Interpreted;
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(Threads, Replays, testing::Values(1, 2, 5));

TEST_P(Replays, AreRightAndCountTheSame) {
  for (const Program& p : kPrograms) {
    for (bool own : {false, true}) {
      TestRun run(algorithm_text(p.name), p.settings, options(own));
      run.run_and_check();
      RunCounts first = run.counts();
      int64_t peak = run.peak();
      for (uint64_t seed = 2; seed < 6; ++seed) {
        run.place(seed);
        run.run_and_check();
        EXPECT_EQ(run.counts(), first) << p.name;
        EXPECT_EQ(run.run(), first) << p.name;
        EXPECT_EQ(run.peak(), peak) << p.name;
      }
    }
  }
}

TEST_P(Replays, OfPlansThatAreTooLongAreWalkedAgain) {
  TestRun run(algorithm_text("summa"), "ni=16,nj=16,nk=128,gx=8,gy=8,chunk=1", options(true));
  run.run_and_check();
  RunCounts first = run.counts();
  EXPECT_GT(first.tasks, Script::kMostTasks);
  run.place(2);
  run.run_and_check();
  EXPECT_EQ(run.counts(), first);
}

TEST_P(Replays, OfSeveralStatements) {
  for (bool own : {false, true}) {
    TestRun run(test::kStatements, "", options(own));
    run.run_and_check();
    RunCounts first = run.counts();
    EXPECT_EQ(run.peak(), run.needs().peak_per_processor);
    for (uint64_t seed = 2; seed < 6; ++seed) {
      run.place(seed);
      run.run_and_check();
      EXPECT_EQ(run.counts(), first);
      EXPECT_EQ(run.peak(), run.needs().peak_per_processor);
    }
  }
}

// Fails when `left` reaches 0, and works before and after.
class SometimesFailingLeaf : public LeafKernel {
 public:
  SometimesFailingLeaf(std::unique_ptr<LeafKernel> leaf, std::atomic<int>& left)
      : leaf_(std::move(leaf)), left_(left) {}
  void run(const LeafArguments& arguments) const override {
    if (left_-- == 0) throw std::runtime_error("not now");
    leaf_->run(arguments);
  }
  std::string description() const override { return "sometimes failing"; }

 private:
  std::unique_ptr<LeafKernel> leaf_;
  std::atomic<int>& left_;
};

TEST_P(Replays, GoOnAfterAFailure) {
  for (bool own : {false, true}) {
    for (bool in_the_first : {false, true}) {
      std::atomic<int> left{1 << 30};
      auto plan = std::make_unique<Plan>(test::plan_algorithm("cannon", "ni=12,nj=12,nk=12,gx=3,gy=3"));
      Leaves leaves;
      leaves.push_back(std::make_unique<SometimesFailingLeaf>(
          make_leaf(plan->stages[0], ElementType::Double, LeafChoice::Interpreted), left));
      TestRun run(std::move(plan), options(own), std::move(leaves));
      if (!in_the_first) run.run_and_check();
      left = 13;
      EXPECT_EQ(test::message_of<std::runtime_error>([&] { run.run(); }), "not now");
      left = 1 << 30;
      run.run_and_check();
      RunCounts counts = run.counts();
      run.place(5);
      run.run_and_check();
      EXPECT_EQ(run.counts(), counts);
      EXPECT_EQ(run.peak(), run.needs().peak_per_processor);
    }
  }
}

// A copy that is not filled is found in every run, not only in the first.
TEST(Replay, ChecksCopiesToo) {
  RunOptions options;
  options.own_memory = true;
  options.threads = 1;
  TestRun run(algorithm_text("cannon"), "ni=9,nj=6,nk=12,gx=3,gy=3", options);
  for (auto& acquire : run.needs().buffers[0]) {
    for (auto& [place, need] : acquire) need.depth = 1;
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(test::message_of<InternalError>([&] { run.run(); }),
              "processor (0, 2) was given 0 of the 12 elements of B[0:3, 0:4]");
  }
}

}  // namespace
}  // namespace distal::core
