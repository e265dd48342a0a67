#include "support/team.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/cores.h"
#include "support/run.h"

namespace distal::core {
namespace {

class Teams : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, Teams, testing::Values(1, 2, 3, 8));

TEST_P(Teams, EveryPartRunsOnceARun) {
  Team team(GetParam());
  ASSERT_EQ(team.size(), GetParam());
  // Not atomic: each part has its own counter, and runs do not overlap.
  std::vector<int> runs(static_cast<size_t>(team.size()), 0);
  for (int i = 0; i < 2000; ++i) team.run([&](int part) { ++runs[static_cast<size_t>(part)]; });
  for (int r : runs) EXPECT_EQ(r, 2000);
}

TEST_P(Teams, TheCallerHasTheFirstPart) {
  Team team(GetParam());
  std::vector<std::thread::id> who(static_cast<size_t>(team.size()));
  team.run([&](int part) { who[static_cast<size_t>(part)] = std::this_thread::get_id(); });
  EXPECT_EQ(who[0], std::this_thread::get_id());
}

TEST_P(Teams, PartsMayWaitForOneAnother) {
  Team team(GetParam());
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> there{0};
    team.run([&](int) {
      ++there;
      while (there < team.size()) std::this_thread::yield();
    });
    EXPECT_EQ(there, team.size());
  }
}

TEST_P(Teams, HelpersThatSleepAreWoken) {
  Team team(GetParam());
  std::vector<int> runs(static_cast<size_t>(team.size()), 0);
  for (int i = 0; i < 20; ++i) {
    team.run([&](int part) { ++runs[static_cast<size_t>(part)]; });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (int r : runs) EXPECT_EQ(r, 20);
}

TEST_P(Teams, TheCallerWaitsForSlowParts) {
  Team team(GetParam());
  for (int i = 0; i < 5; ++i) {
    std::vector<int> ended(static_cast<size_t>(team.size()), 0);
    team.run([&](int part) {
      if (part > 0) std::this_thread::sleep_for(std::chrono::milliseconds(2 + part));
      ended[static_cast<size_t>(part)] = 1;
    });
    for (int e : ended) EXPECT_EQ(e, 1);
  }
}

TEST_P(Teams, AFailureComesOutAndTheTeamGoesOn) {
  Team team(GetParam());
  for (int bad = 0; bad < team.size(); ++bad) {
    auto part = [&](int i) {
      if (i == bad) throw std::runtime_error("enough");
    };
    EXPECT_THROW(team.run(part), std::runtime_error);
    int first = 0;
    team.run([&](int i) {
      if (i == 0) ++first;
    });
    EXPECT_EQ(first, 1);
  }
}

TEST(Teams, TakeAtLeastTheCaller) {
  EXPECT_EQ(Team(0).size(), 1);
  EXPECT_EQ(Team(-3).size(), 1);
}

TEST(Teams, ManyThatNeverRun) {
  std::vector<std::unique_ptr<Team>> teams;
  for (int i = 0; i < 1000; ++i) teams.push_back(std::make_unique<Team>(64));  // starts no thread
}

// ---- the teams of the threads engine ----

// Records the smallest and the largest team that it was given; no team counts as one thread.
class TeamRecordingLeaf : public LeafKernel {
 public:
  TeamRecordingLeaf(std::atomic<int>& least, std::atomic<int>& most) : least_(least), most_(most) {}
  void run(const LeafArguments& arguments) const override {
    int size = arguments.team ? arguments.team->size() : 1;
    if (size < least_) least_ = size;
    if (size > most_) most_ = size;
    std::atomic<int> parts{0};
    if (arguments.team) arguments.team->run([&](int) { ++parts; });
    if (arguments.team && parts != size) throw std::runtime_error("a part is missing");
  }
  std::string description() const override { return "asking"; }

 private:
  std::atomic<int>& least_;
  std::atomic<int>& most_;
};

struct TeamCase {
  std::string grid;
  int threads, size;
};

TEST(EngineTeams, AreTheThreadsThatAProcessorHas) {
  for (const TeamCase& c : {TeamCase{"gx=1,gy=1", 1, 1}, TeamCase{"gx=1,gy=1", 5, 5}, TeamCase{"gx=2,gy=1", 5, 2},
                            TeamCase{"gx=2,gy=2", 3, 1}, TeamCase{"gx=2,gy=2", 4, 1}, TeamCase{"gx=2,gy=2", 9, 2}}) {
    std::atomic<int> least{1000}, most{0};
    Leaves leaves;
    leaves.push_back(std::make_unique<TeamRecordingLeaf>(least, most));
    test::RunOptions options;
    options.threads = c.threads;
    auto plan = std::make_unique<Plan>(test::plan_algorithm("summa", "ni=8,nj=8,nk=16,chunk=2," + c.grid));
    test::TestRun run(std::move(plan), options, std::move(leaves));
    for (int i = 0; i < 3; ++i) run.run();
    EXPECT_EQ(least, c.size) << c.grid << " " << c.threads;
    EXPECT_EQ(most, c.size) << c.grid << " " << c.threads;
  }
}

// taskset, or a launcher that binds ranks, sets the affinity mask.
TEST(UsableCores, AreThoseInTheAffinityMask) {
  EXPECT_GE(usable_cores(), 1);
  std::thread bound([] {
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int core = 0; CPU_COUNT(&one) == 0; ++core) {
      if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_cores(), 1);
  });
  bound.join();
}

}  // namespace
}  // namespace distal::core
