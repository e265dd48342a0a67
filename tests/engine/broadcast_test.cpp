#include "engine/broadcast.h"

#include <gtest/gtest.h>

#include <numeric>

namespace distal::core {
namespace {

Route route(int64_t source, int64_t place, int64_t lo = 0, int64_t hi = 10) {
  return {source, place, {{0, Rect{{lo}, {hi}}}}};
}

std::vector<int> one_per_process(int processors) {
  std::vector<int> out(static_cast<size_t>(processors));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// How often each processor sends.
std::map<int64_t, int> sends(const std::vector<Route>& routes, const Relays& relays) {
  std::map<int64_t, int> out;
  for (const Route& r : routes) {
    auto found = relays.find({r.place, r.source});
    ++out[found == relays.end() ? r.source : found->second];
  }
  return out;
}

std::vector<Route> from_first_to_all(int processors) {
  std::vector<Route> routes;
  for (int p = 1; p < processors; ++p) routes.push_back(route(0, p));
  return routes;
}

TEST(Broadcast, DoublesTheProcessorsEachRound) {
  for (int processors : {4, 5, 8, 13, 64, 100}) {
    SCOPED_TRACE(processors);
    std::vector<Route> routes = from_first_to_all(processors);
    Relays relays = broadcast_trees(routes, one_per_process(processors));
    std::map<int64_t, int> round{{0, 0}};  // by processor: the round in which it receives the piece
    std::map<int64_t, int> sent;           // by processor: how often it sent the piece
    for (const Route& r : routes) {
      auto found = relays.find({r.place, 0});
      int64_t from = found == relays.end() ? 0 : found->second;
      ASSERT_LT(from, r.place) << "a relay receives the piece before it sends it";
      round[r.place] = round[from] + ++sent[from];
      EXPECT_LT(int64_t{1} << (round[r.place] - 1), processors);
    }
  }
}

TEST(Broadcast, FewReceiversAreServedByTheSource) {
  EXPECT_TRUE(broadcast_trees(from_first_to_all(3), one_per_process(3)).empty());
  EXPECT_TRUE(broadcast_trees({}, {}).empty());
}

TEST(Broadcast, InAnAllToAllEachSourceSendsItself) {
  std::vector<Route> routes;
  for (int p = 0; p < 8; ++p) {
    for (int q = 0; q < 8; ++q) {
      if (p != q) routes.push_back(route(p, q, 10 * p, 10 * p + 10));
    }
  }
  EXPECT_TRUE(broadcast_trees(routes, one_per_process(8)).empty());
}

TEST(Broadcast, OnlyEqualRoutesShareARelay) {
  std::vector<Route> routes;
  for (int p = 1; p < 8; ++p) routes.push_back(route(0, p, p, p + 10));
  EXPECT_TRUE(broadcast_trees(routes, one_per_process(8)).empty());
  // The routes to 2, 3 and 5 are equal.
  routes = {route(0, 1, 5), route(0, 2), route(0, 3), route(0, 4, 3), route(0, 5)};
  EXPECT_EQ(broadcast_trees(routes, one_per_process(6)), (Relays{{{5, 0}, 2}}));
}

// A relay in the same process as the receiver would send a message to its own process.
TEST(Broadcast, NotWithinAProcess) {
  std::vector<Route> routes = from_first_to_all(7);
  std::vector<int> processes{0, 1, 2, 1, 3, 4, 2};
  Relays relays = broadcast_trees(routes, processes);
  EXPECT_FALSE(relays.empty());
  for (const auto& [key, relay] : relays) {
    EXPECT_NE(processes[static_cast<size_t>(key.first)], processes[static_cast<size_t>(relay)]);
  }
}

TEST(Broadcast, SeveralSourcesInTheirOwnTrees) {
  std::vector<Route> routes;
  for (int p = 2; p < 10; ++p) {
    for (int source : {0, 1}) routes.push_back(route(source, p, 10 * source, 10 * source + 10));
  }
  std::map<int64_t, int> counts = sends(routes, broadcast_trees(routes, one_per_process(10)));
  EXPECT_EQ(counts[0], 4);
  EXPECT_EQ(counts[1], 4);
}

}  // namespace
}  // namespace distal::core
