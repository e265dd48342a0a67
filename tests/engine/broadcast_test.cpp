#include "engine/broadcast.h"

#include <gtest/gtest.h>

#include <numeric>

namespace distal::core {
namespace {

Leg leg(int64_t source, int64_t place, int64_t lo = 0, int64_t hi = 10) {
  return {source, place, {{0, Rect{{lo}, {hi}}}}};
}

std::vector<int> one_each(int processors) {
  std::vector<int> out(static_cast<size_t>(processors));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// How often each processor sends.
std::map<int64_t, int> sends(const std::vector<Leg>& legs, const Carriers& carriers) {
  std::map<int64_t, int> out;
  for (const Leg& l : legs) {
    auto found = carriers.find({l.place, l.source});
    ++out[found == carriers.end() ? l.source : found->second];
  }
  return out;
}

std::vector<Leg> from_first_to_all(int processors) {
  std::vector<Leg> legs;
  for (int p = 1; p < processors; ++p) legs.push_back(leg(0, p));
  return legs;
}

TEST(Broadcast, TakesARoundForEachDoubling) {
  for (int processors : {4, 5, 8, 13, 64, 100}) {
    SCOPED_TRACE(processors);
    std::vector<Leg> legs = from_first_to_all(processors);
    Carriers carriers = broadcast_trees(legs, one_each(processors));
    std::map<int64_t, int> round{{0, 0}};  // in which a processor has it
    std::map<int64_t, int> handed_on;
    for (const Leg& l : legs) {
      auto found = carriers.find({l.place, 0});
      int64_t from = found == carriers.end() ? 0 : found->second;
      ASSERT_LT(from, l.place) << "whoever hands it on has it first";
      round[l.place] = round[from] + ++handed_on[from];
      EXPECT_LT(int64_t{1} << (round[l.place] - 1), processors);
    }
  }
}

TEST(Broadcast, FewReceiversAreServedByTheSource) {
  EXPECT_TRUE(broadcast_trees(from_first_to_all(3), one_each(3)).empty());
  EXPECT_TRUE(broadcast_trees({}, {}).empty());
}

TEST(Broadcast, WhereAllSendToAllEachServesItself) {
  std::vector<Leg> legs;
  for (int p = 0; p < 8; ++p) {
    for (int q = 0; q < 8; ++q) {
      if (p != q) legs.push_back(leg(p, q, 10 * p, 10 * p + 10));
    }
  }
  EXPECT_TRUE(broadcast_trees(legs, one_each(8)).empty());
}

TEST(Broadcast, OnlyWhatIsAlikeIsHandedOn) {
  std::vector<Leg> legs;
  for (int p = 1; p < 8; ++p) legs.push_back(leg(0, p, p, p + 10));
  EXPECT_TRUE(broadcast_trees(legs, one_each(8)).empty());
  // Three that are, among others.
  legs = {leg(0, 1, 5), leg(0, 2), leg(0, 3), leg(0, 4, 3), leg(0, 5)};
  EXPECT_EQ(broadcast_trees(legs, one_each(6)), (Carriers{{{5, 0}, 2}}));
}

// A message would go from a process to itself.
TEST(Broadcast, NotWithinAProcess) {
  std::vector<Leg> legs = from_first_to_all(7);
  std::vector<int> processes{0, 1, 2, 1, 3, 4, 2};
  Carriers carriers = broadcast_trees(legs, processes);
  EXPECT_FALSE(carriers.empty());
  for (const auto& [way, carrier] : carriers) {
    EXPECT_NE(processes[static_cast<size_t>(way.first)], processes[static_cast<size_t>(carrier)]);
  }
}

TEST(Broadcast, SeveralSourcesInTheirOwnTrees) {
  std::vector<Leg> legs;
  for (int p = 2; p < 10; ++p) {
    for (int source : {0, 1}) legs.push_back(leg(source, p, 10 * source, 10 * source + 10));
  }
  std::map<int64_t, int> counts = sends(legs, broadcast_trees(legs, one_each(10)));
  EXPECT_EQ(counts[0], 4);
  EXPECT_EQ(counts[1], 4);
}

}  // namespace
}  // namespace distal::core
