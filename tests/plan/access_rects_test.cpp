// Acquires of several rectangles: finding rectangles in them, and the loops that make them.

#include "plan/access_rects.h"

#include <gtest/gtest.h>

#include <random>

#include "plan/memory.h"
#include "plan/verify.h"
#include "support/programs.h"

namespace distal::core {
namespace {

using test::cost_of_text;
using test::plan_text;

// Random runs with random gaps between them, as one list of bounds: lo, hi, lo, hi.
std::vector<int64_t> random_runs(std::mt19937& random, int64_t count) {
  std::vector<int64_t> out;
  int64_t at = 0;
  for (int64_t end = 0; end < 2 * count; ++end) out.push_back(at += 1 + static_cast<int64_t>(random() % 4));
  return out;
}

struct RandomAccess {
  std::vector<Rect> rects{Rect{{0, 0}, {1, 1}}};  // the first rectangle belongs to another access
  AccessRects access;
};

RandomAccess random_access(std::mt19937& random) {
  auto rows = static_cast<int64_t>(1 + random() % 5), columns = static_cast<int64_t>(1 + random() % 5);
  std::vector<int64_t> x = random_runs(random, rows), y = random_runs(random, columns);
  RandomAccess out;
  out.access = {1, {rows, columns}};
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      out.rects.push_back({{x[2 * r], y[2 * c]}, {x[2 * r + 1], y[2 * c + 1]}});
    }
  }
  return out;
}

TEST(AccessRects, FindsWhatTouchesARectangle) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    RandomAccess all = random_access(random);
    Rect other{{static_cast<int64_t>(random() % 40), static_cast<int64_t>(random() % 40)}, {}};
    for (int d = 0; d < 2; ++d) other.hi.push_back(other.lo[d] + 1 + static_cast<int64_t>(random() % 15));
    std::vector<size_t> expected;
    for (size_t i = 1; i < all.rects.size(); ++i) {
      if (overlap(all.rects[i], other)) expected.push_back(i);
    }
    EXPECT_EQ(overlapping(all.access, all.rects, other), expected);
  }
}

TEST(AccessRects, FindsTheRectangleOfEveryElement) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    RandomAccess all = random_access(random);
    for (size_t i = 1; i < all.rects.size(); ++i) {
      for_each_point(all.rects[i], [&](const Coordinates& at) { EXPECT_EQ(rect_at(all.access, all.rects, at), i); });
    }
  }
}

TEST(AccessRects, OfAScalarIsOne) {
  std::vector<Rect> rects{Rect{}, Rect{}};
  EXPECT_EQ(rect_at({1, {}}, rects, {}), 1U);
  EXPECT_EQ(overlapping({1, {}}, rects, Rect{}), std::vector<size_t>{1});
}

std::vector<std::string> blocks_of(const Plan& plan, const std::string& tensor) {
  std::vector<std::string> out;
  for (const AcquirePlan& a : plan.stages[0].acquires) {
    if (a.acquire->tensor != tensor) continue;
    for (int v : a.blocks) out.push_back(plan.stages[0].space.names[static_cast<size_t>(v)]);
  }
  return out;
}

std::vector<std::string> leaf_loops(const Plan& plan) {
  std::vector<std::string> out;
  for (int v : plan.stages[0].leaf_loops) out.push_back(plan.stages[0].space.names[static_cast<size_t>(v)]);
  return out;
}

using Names = std::vector<std::string>;

// Each processor acquires B once, for all its blocks of A.
const std::string kFollowA = R"(schedule
  distribute({i, j}, {io, jo}, {ii, ji}, A)
  communicate(A, j_round)
  communicate(B, jo)
)";

void expect_verified(const std::string& text) {
  Plan plan = plan_text(text);
  EXPECT_NO_THROW(verify(plan, memory_needs(plan, Reach::own())));
}

// Loops inside a block leave no gaps, so they are folded into the leaf.
TEST(Blocks, LoopsInsideABlockAreFolded) {
  std::string text = test::algorithm_text("scalapack");
  text = text.substr(0, text.find("  communicate(A")) + "  communicate(A, ji)\n  communicate({B, C}, ko)\n";
  Plan plan = plan_text(text, "ni=24,nj=20,nk=16,gx=2,gy=2,block=3,chunk=8");
  EXPECT_EQ(blocks_of(plan, "B"), Names{"i_round"});
  EXPECT_EQ(blocks_of(plan, "C"), Names{"j_round"});
  EXPECT_EQ(leaf_loops(plan), (Names{"ii", "ji", "ki"}));
}

// Only the values of the params show that the collapsed loop covers whole rows.
TEST(Blocks, ACollapsedLoopOverWholeRowsLeavesNoHoles) {
  const std::string text = R"(param n = 8
machine M = Grid(4)
tensor A(n, n) : xy -> x on M
tensor B(n, n) : xy -> x on M
A(i, j) = B(i, j)
schedule
  collapse(i, j, f)
  divide(f, fo, fi, 4)
  distribute(fo, M)
  communicate(B, fo)
)";
  Plan plan = plan_text(text);
  EXPECT_EQ(blocks_of(plan, "B"), Names{});
  EXPECT_EQ(leaf_loops(plan), Names{"fi"});
}

TEST(Blocks, ADiagonalHasNone) {
  Plan plan = plan_text(
      "param n = 8\nmachine M = Grid(2)\ntensor a(n) : x -> x on M\ntensor B(n, n) : xy -> x on M\n"
      "a(i) = B(i, i)\nschedule\n  distribute(i, io, ii, M)\n  communicate(B, io)\n");
  EXPECT_EQ(blocks_of(plan, "B"), Names{});
}

// The upper level distributes blocks cyclically over nodes. The processors of a node share what it acquires.
TEST(Blocks, AreSharedByTheProcessorsOfANode) {
  const std::string text = R"(param n = 26
machine M = Grid(2) of Grid(3)
tensor a(n) : x -> x cyclic(x = 3), x -> x on M
tensor b(n) : x -> 1, x -> 0 on M
a(i) = b(i)
schedule
  distribute(i, io, ii, a[0])
  communicate(b, io)
  distribute(ii, iio, iii, M[1])
  reorder({i_round, iii})
  communicate(a, i_round)
)";
  expect_verified(text);
  // The first node has 5 of the 9 blocks, the last of them short. It acquires their 14 elements from the second node.
  EXPECT_EQ(cost_of_text(text).tensors.at("b").bytes, 14 * 8);
}

// Two accesses of one tensor acquire blocks of rows. A row that both need moves once.
TEST(Blocks, OfTwoAccessesAreCountedOnce) {
  const std::string text = R"(param n = 12, nk = 5
machine M = Grid(2, 2)
tensor A(n, n) : xy -> xy cyclic(x = 2, y = 2) on M
tensor B(n, nk) : xy -> 00 on M
A(i, j) = B(i, k) * B(j, k)
)" + kFollowA;
  expect_verified(text);
  // The two processors off the diagonal need all rows, the last one on it needs half of them, and the first owns all.
  EXPECT_EQ(cost_of_text(text).bytes_moved, (2 * 12 + 6) * 5 * 8);
}

// 128 blocks in each dimension. The time to plan grows only with the number of blocks.
TEST(Blocks, ManyArePlanned) {
  const std::string text = R"(param n = 1024
machine M = Grid(2, 2)
tensor A(n, n) : xy -> xy cyclic(x = 8, y = 8) on M
tensor B(n, n) : xy -> xy cyclic(x = 8, y = 8) on M
A(i, j) = B(j, i)
)" + kFollowA;
  expect_verified(text);
  EXPECT_EQ(cost_of_text(text).bytes_moved, 1024 * 1024 / 2 * 8);
}

}  // namespace
}  // namespace distal::core
