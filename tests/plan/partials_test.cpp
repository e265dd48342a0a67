// The trees along which the partials of a rectangle are combined.

#include "plan/partials.h"

#include <gtest/gtest.h>

#include <numeric>

#include "plan/cost.h"
#include "support/programs.h"
#include "support/run.h"

namespace distal::core {
namespace {

using Kind = Transfer::Kind;

// A machine with one dimension per level.
MachineShape rows(const std::vector<int64_t>& extents) {
  MachineShape shape;
  shape.extents = extents;
  shape.processors = std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
  int64_t group = shape.processors;
  for (size_t l = 0; l < extents.size(); ++l) {
    shape.level.push_back(static_cast<int>(l));
    shape.first.push_back(static_cast<int>(l));
    shape.group_size.push_back(group);
    group /= extents[l];
  }
  shape.group_size.push_back(group);
  return shape;
}

std::vector<int64_t> from_to(int64_t begin, int64_t end) {
  std::vector<int64_t> out(static_cast<size_t>(end - begin));
  std::iota(out.begin(), out.end(), begin);
  return out;
}

std::string text_of(const std::vector<Transfer>& transfers) {
  std::string out;
  for (const Transfer& t : transfers) {
    const char* arrow = t.kind == Kind::CombinePartial ? "->" : "=>";
    out += fmt::format("{}{}{}{}", out.empty() ? "" : " ", t.source, arrow, t.destination);
  }
  return out;
}

PartialSum sum_of(int64_t first, std::vector<int64_t> sources, int64_t destination, int place_levels) {
  return {Rect{{first}, {first + 10}}, std::move(sources), destination, Kind::CombineHome, 1, place_levels};
}

std::string on(const std::vector<int64_t>& extents, const std::vector<int64_t>& sources, int64_t destination) {
  return text_of(combine(rows(extents), {sum_of(0, sources, destination, static_cast<int>(extents.size()))}));
}

TEST(PartialSums, OfTwoGoStraightHome) {
  EXPECT_EQ(on({3}, {1, 2}, 0), "1=>0 2=>0");
  EXPECT_EQ(on({3}, {0, 2}, 1), "0=>1 2=>1");
}

TEST(PartialSums, OfManyAreCombinedInATree) {
  EXPECT_EQ(on({4}, from_to(1, 4), 0), "3->2 1=>0 2=>0");
  EXPECT_EQ(on({8}, from_to(1, 8), 0), "3->2 5->4 7->6 6->4 1=>0 2=>0 4=>0");
  EXPECT_EQ(on({6}, {0, 1, 2, 4, 5}, 3), "2->1 5->4 0=>3 1=>3 4=>3");
}

// A partial that is already at the destination is not combined elsewhere first.
TEST(PartialSums, OfTheDestinationStayThere) {
  EXPECT_EQ(on({5}, from_to(0, 5), 3), "2->1 0=>3 1=>3 3=>3 4=>3");
  EXPECT_EQ(text_of(combine(rows({2, 4}), {sum_of(0, {0, 4}, 6, 1)})), "0=>6 4=>6");
}

// Every processor receives as much as it sends, so a tree would gain nothing.
TEST(PartialSums, ThatAreScatteredGoStraightHome) {
  std::vector<PartialSum> sums;
  for (int64_t p = 0; p < 4; ++p) {
    std::vector<int64_t> others = from_to(0, 4);
    others.erase(others.begin() + p);
    sums.push_back(sum_of(10 * p, others, p, 1));
  }
  for (const Transfer& t : combine(rows({4}), sums)) EXPECT_EQ(t.kind, Kind::CombineHome);
}

TEST(PartialSums, MeetWithinANodeFirst) {
  EXPECT_EQ(on({2, 2}, {1, 2}, 0), "1=>0 2=>0");
  EXPECT_EQ(on({2, 4}, from_to(1, 8), 0), "3->2 5->4 7->6 6->4 1=>0 2=>0 4=>0");
  // Each other node sends one partial to the node of the destination, which need not be the first node.
  EXPECT_EQ(on({3, 3}, {0, 1, 2, 3, 5, 6, 7, 8}, 4), "1->0 2->0 7->6 8->6 0=>4 3=>4 5=>4 6=>4");
}

TEST(PartialSums, CrossALevelOncePerOtherGroup) {
  MachineShape machine = rows({3, 5});
  for (int64_t home = 0; home < machine.processors; ++home) {
    std::vector<int64_t> sources = from_to(0, machine.processors);
    sources.erase(sources.begin() + home);
    int64_t crossings = 0;
    std::map<int64_t, int> sent;
    for (const Transfer& t : combine(machine, {sum_of(0, sources, home, 2)})) {
      crossings += machine.crossed_level(t.source, t.destination) == 0 ? 1 : 0;
      ++sent[t.source];
    }
    EXPECT_EQ(crossings, 2) << home;
    EXPECT_EQ(sent.size(), sources.size()) << home;
    for (const auto& [source, times] : sent) EXPECT_EQ(times, 1) << source;
  }
}

// Sixteen partials of one matrix: its owner receives four of them, not fifteen.
TEST(PartialSums, NoProcessorReceivesMuchMoreThanOthers) {
  Cost cost = test::cost_of_algorithm("johnson", "ni=12,nj=10,nk=32,gx=1,gy=1,gz=16");
  int64_t matrix = 12 * 10 * 8;
  EXPECT_EQ(cost.tensors.at("A").bytes, 15 * matrix);
  EXPECT_EQ(cost.tensors.at("A").messages, 15);
  EXPECT_EQ(cost.max_bytes_received, 4 * matrix);
}

}  // namespace
}  // namespace distal::core
