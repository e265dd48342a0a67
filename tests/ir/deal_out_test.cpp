// The relations that deal a loop out, compared with block_cyclic.h.

#include "ir/deal_out.h"

#include <gtest/gtest.h>

#include "ir/bounds.h"
#include "lang/block_cyclic.h"

namespace distal::core {
namespace {

// Deals a loop out, then runs through all loops made from it and compares each iteration with the numbers.
void expect_equal_meaning(int64_t extent, int64_t parts, std::optional<int64_t> block) {
  SCOPED_TRACE(testing::Message() << extent << " in " << parts << " parts, block " << block.value_or(0));
  DealtLoops loops{{"coordinate", {}}, {"inside", {}}, {}};
  if (block) loops.cyclic = {{"number", {}}, {"round", {}}, *block};
  std::vector<Relation> relations;
  deal_out({"i", {}}, loops, parts, 0, 0, relations);
  IterationSpace<IntExpr> symbols = make_space({{"i", {}}}, {{"i", extent}}, relations);
  IterationSpace<int64_t> space = evaluate(symbols, {});
  int i = find_variable(symbols, "i"), coordinate = find_variable(symbols, "coordinate");
  int inside = find_variable(symbols, "inside"), round = block ? find_variable(symbols, "round") : -1;
  int64_t rounds = block ? space.extents[round] : 1;

  BlockCyclic dealt(extent, parts, block);
  EXPECT_EQ(space.extents[inside], dealt.block);
  EXPECT_EQ(rounds, dealt.rounds(extent));
  std::vector<int> visits(static_cast<size_t>(extent));
  for (int64_t c = 0; c < parts; ++c) {
    for (int64_t r = 0; r < rounds; ++r) {
      for (int64_t x = 0; x < dealt.block; ++x) {
        std::vector<Interval<int64_t>> intervals(static_cast<size_t>(space.size()));
        intervals[coordinate] = point(c);
        intervals[inside] = point(x);
        if (block) intervals[round] = point(r);
        if (!bounds(space, intervals)) continue;
        int64_t at = intervals[i].lo;
        ++visits[static_cast<size_t>(at)];
        EXPECT_EQ(dealt.coordinate_of(at), c);
        EXPECT_EQ(dealt.local_of(at), r * dealt.block + x);
        EXPECT_LT(dealt.local_of(at), dealt.piece_extent(extent));
      }
    }
  }
  EXPECT_EQ(visits, std::vector<int>(static_cast<size_t>(extent), 1));
}

TEST(DealOut, MeansWhatTheNumbersSay) {
  for (int64_t extent : {1, 2, 5, 12, 23}) {
    for (int64_t parts : {1, 2, 3, 5}) {
      expect_equal_meaning(extent, parts, std::nullopt);
      for (int64_t block : {1, 2, 3, 30}) expect_equal_meaning(extent, parts, block);
    }
  }
}

}  // namespace
}  // namespace distal::core
