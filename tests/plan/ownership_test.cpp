// Tensor distribution notation against its definition in the paper, element by element.

#include "plan/ownership.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/layouts.h"

namespace distal::core {
namespace {

using test::Layout;
using test::tensor_of;

// The processors that own a point, computed from the definition alone. The coordinates of a processor are those of all
// levels, one after another. Each level distributes the piece of the level above it.
std::set<Coordinates> holders_by_definition(const Tensor& tensor, Coordinates at) {
  std::set<Coordinates> holders{{}};
  Coordinates extent;
  for (const IntExpr& e : tensor.dimensions) extent.push_back(e.evaluate({}));
  for (size_t l = 0; l < tensor.distribution->levels.size(); ++l) {
    const LevelDistribution& level = tensor.distribution->levels[l];
    const Grid& grid = tensor.machine->levels[l];
    Coordinates inside = at, inner_extent = extent;
    for (size_t m = 0; m < grid.extents.size(); ++m) {
      int64_t parts = grid.extents[m].evaluate({});
      std::vector<int64_t> values;
      const auto& role = level.machine_dimensions[m].role;
      if (const auto* fix = std::get_if<Fix>(&role)) {
        values.push_back(fix->face.evaluate({}));
      } else if (std::holds_alternative<Broadcast>(role)) {
        for (int64_t v = 0; v < parts; ++v) values.push_back(v);
      } else {
        const std::string& name = std::get<Partition>(role).name;
        size_t d = 0;
        while (level.tensor_dimensions[d] != name) ++d;
        if (level.cyclic.count(name) == 0) {
          int64_t block = (extent[d] + parts - 1) / parts;
          values.push_back(at[d] / block);
          inside[d] = at[d] % block;
          inner_extent[d] = block;
        } else {
          // Blocks are dealt out in turn; a piece is its blocks, one after another.
          int64_t block = level.cyclic.at(name).evaluate({});
          int64_t number = at[d] / block;
          values.push_back(number % parts);
          inside[d] = number / parts * block + at[d] % block;
          int64_t blocks = (extent[d] + block - 1) / block;
          inner_extent[d] = (blocks + parts - 1) / parts * block;
        }
      }
      std::set<Coordinates> longer;
      for (const Coordinates& h : holders) {
        for (int64_t v : values) {
          Coordinates next = h;
          next.push_back(v);
          longer.insert(next);
        }
      }
      holders = std::move(longer);
    }
    at = inside;
    extent = inner_extent;
  }
  return holders;
}

class OwnershipOf : public testing::TestWithParam<Layout> {
 protected:
  Tensor tensor_ = tensor_of(GetParam());
  Ownership owners_{tensor_, {}};
};

INSTANTIATE_TEST_SUITE_P(Layouts, OwnershipOf, testing::ValuesIn(test::all_layouts()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(OwnershipOf, IsTheDefinition) {
  for_each_point(whole(owners_.shape()), [&](const Coordinates& at) {
    std::set<Coordinates> got;
    std::vector<int64_t> processors = owners_.processors_of(owners_.colour_of(at));
    EXPECT_TRUE(std::is_sorted(processors.begin(), processors.end()));
    for (int64_t p : processors) EXPECT_TRUE(got.insert(owners_.machine().coordinates(p)).second);
    EXPECT_EQ(got, holders_by_definition(tensor_, at));
    EXPECT_EQ(owners_.first_owner(owners_.colour_of(at)), processors[0]);
  });
}

TEST_P(OwnershipOf, AColourNamesTheDimensionsThatCut) {
  for_each_point(whole(owners_.shape()), [&](const Coordinates& at) {
    Colour colour = owners_.colour_of(at);
    size_t m = 0;
    for (const LevelDistribution& level : tensor_.distribution->levels) {
      for (const MachineDimension& d : level.machine_dimensions) {
        EXPECT_EQ(colour[m] != kUncut, std::holds_alternative<Partition>(d.role));
        ++m;
      }
    }
  });
}

// Pieces are disjoint except for replicas, cover the tensor, and are packed in memory without gaps or overlaps.
TEST_P(OwnershipOf, PiecesCoverEverythingOnce) {
  std::map<Coordinates, std::set<int64_t>> held;
  for (int64_t p = 0; p < owners_.machine().processors; ++p) {
    std::vector<Rect> rects = owners_.rects_of(p);
    EXPECT_EQ(rects.empty(), !owners_.owns_any(p));
    int64_t volume = 0;
    for (const Rect& r : rects) {
      EXPECT_FALSE(r.empty());
      for_each_point(r, [&](const Coordinates& at) { EXPECT_TRUE(held[at].insert(p).second) << "twice in one piece"; });
      volume += r.volume();
    }
    if (rects.empty()) continue;
    HomePiece piece = owners_.piece_of(p);
    EXPECT_EQ(piece.volume(), volume);
    for (size_t d = 0; d < piece.runs.size(); ++d) {
      int64_t local = 0;
      for (const distal::core::Run& run : *piece.runs[d]) {
        EXPECT_EQ(run.local, local);
        local += run.hi - run.lo;
      }
      EXPECT_EQ(local, piece.extents[d]);
    }
  }
  for_each_point(whole(owners_.shape()), [&](const Coordinates& at) {
    std::vector<int64_t> expected = owners_.processors_of(owners_.colour_of(at));
    EXPECT_EQ(held[at], std::set<int64_t>(expected.begin(), expected.end()));
  });
}

TEST_P(OwnershipOf, ForEachPartGivesPartsOfOneColour) {
  Rect all = whole(owners_.shape());
  std::vector<Rect> some{all};
  for (size_t d = 0; d < all.lo.size(); ++d) {
    if (all.hi[d] < 3) continue;
    Rect inner = all;
    inner.lo[d] = 1;
    inner.hi[d] -= 1;
    some.push_back(inner);
  }
  for (const Rect& rect : some) {
    int64_t volume = 0;
    owners_.for_each_part(rect, [&](const Rect& part, const Colour& colour) {
      volume += part.volume();
      EXPECT_TRUE(rect.contains(part));
      EXPECT_EQ(owners_.colour_of(part.lo), colour);
      Coordinates last = part.hi;
      for (int64_t& x : last) --x;
      EXPECT_EQ(owners_.colour_of(last), colour);
      // The nearest owner of a part owns all of it.
      for (int64_t p = 0; p < owners_.machine().processors; ++p) {
        int64_t owner = owners_.nearest_owner(colour, p);
        std::vector<int64_t> holders = owners_.processors_of(colour);
        EXPECT_TRUE(std::find(holders.begin(), holders.end(), owner) != holders.end());
        bool is_holder = std::find(holders.begin(), holders.end(), p) != holders.end();
        if (is_holder) {
          EXPECT_EQ(owner, p);
        }
        EXPECT_EQ(owners_.single_owner(part, p), owner);
      }
    });
    EXPECT_EQ(volume, rect.volume());
  }
}

// ---- examples with their values ----

TEST(Paper, RunningExample) {
  // T is 2x2, M is 2x2x2, xy -> xy*.
  Ownership owners(tensor_of({"", "2, 2", "xy -> xy*", "Grid(2, 2, 2)"}), {});
  for (int64_t x : {0, 1}) {
    for (int64_t y : {0, 1}) {
      EXPECT_EQ(owners.colour_of({x, y}), (Colour{x, y, kUncut}));
      std::vector<int64_t> processors = owners.processors_of(Colour{x, y, kUncut});
      ASSERT_EQ(processors.size(), 2u);
      EXPECT_EQ(owners.machine().coordinates(processors[0]), (Coordinates{x, y, 0}));
      EXPECT_EQ(owners.machine().coordinates(processors[1]), (Coordinates{x, y, 1}));
    }
  }
  EXPECT_TRUE(owners.has_replicas());
}

TEST(Paper, Hierarchy) {
  // Tiles on a plane of nodes, and rows of a tile on the GPUs of a node. Each level has its own dimension names.
  Ownership owners(tensor_of({"", "8, 8", "xy -> xy, zw -> z", "Grid(2, 2) of Grid(4)"}), {});
  for_each_point(whole({8, 8}), [&](const Coordinates& at) {
    EXPECT_EQ(owners.colour_of(at), (Colour{at[0] / 4, at[1] / 4, at[0] % 4}));
  });
}

TEST(Examples, CeilOfTheCeil) {
  // 10 over 4 processors makes blocks of 3. Each of them, also the short one, over 2 makes blocks of 2.
  Ownership owners(tensor_of({"", "10", "x -> x, x -> x", "Grid(4) of Grid(2)"}), {});
  std::vector<int64_t> holder;
  for (int64_t x = 0; x < 10; ++x) holder.push_back(owners.first_owner(owners.colour_of({x})));
  EXPECT_EQ(holder, (std::vector<int64_t>{0, 0, 1, 2, 2, 3, 4, 4, 5, 6}));
  EXPECT_FALSE(owners.owns_any(7));
}

TEST(Examples, EmptyTiles) {
  Ownership owners(tensor_of({"", "9", "x -> x", "Grid(4)"}), {});
  EXPECT_EQ(owners.rects_of(2), (std::vector<Rect>{Rect{{6}, {9}}}));
  EXPECT_TRUE(owners.rects_of(3).empty());
  Ownership few(tensor_of({"", "2, 2", "xy -> xy", "Grid(3, 3)"}), {});
  int64_t owning = 0;
  for (int64_t p = 0; p < 9; ++p) owning += few.owns_any(p) ? 1 : 0;
  EXPECT_EQ(owning, 4);
}

// ScaLAPACK's NUMROC: how many of n elements in blocks of nb process p of np gets.
int64_t numroc(int64_t n, int64_t nb, int64_t p, int64_t np) {
  int64_t blocks = n / nb;
  int64_t count = blocks / np * nb;
  int64_t extra = blocks % np;
  if (p < extra) return count + nb;
  if (p == extra) return count + n % nb;
  return count;
}

TEST(Examples, LocalSizesAreThoseOfScalapack) {
  for (int64_t n : {1, 7, 16, 23, 100}) {
    for (int64_t nb : {1, 2, 3, 5, 8}) {
      for (int64_t np : {1, 2, 3, 4}) {
        Layout layout{"", std::to_string(n), fmt::format("x -> x cyclic(x = {})", nb), fmt::format("Grid({})", np)};
        Ownership owners(tensor_of(layout), {});
        for (int64_t p = 0; p < np; ++p) {
          int64_t local = owners.owns_any(p) ? owners.piece_of(p).volume() : 0;
          EXPECT_EQ(local, numroc(n, nb, p, np)) << n << " in blocks of " << nb << " on " << p << " of " << np;
        }
      }
    }
  }
}

TEST(Examples, WithoutADistributionItIsOnTheFirstProcessor) {
  Tensor tensor = test::parse_text("tensor T(3, 4)\ntensor other\nother = 1\n").tensors[0];
  Ownership owners(tensor, {});
  EXPECT_EQ(owners.rects_of(0), (std::vector<Rect>{Rect{{0, 0}, {3, 4}}}));
  EXPECT_EQ(owners.machine().processors, 1);
}

TEST(Examples, SizesBeyond32Bits) {
  Ownership owners(tensor_of({"", "10000000000, 3", "xy -> x", "Grid(7)"}), {});
  EXPECT_EQ(owners.colour_of({9999999999, 2}), (Colour{6}));
  EXPECT_EQ(owners.rects_of(6), (std::vector<Rect>{Rect{{8571428574, 0}, {10000000000, 3}}}));
}

// ---- the machine ----

TEST(Machine, NumbersAreRowMajorAndLevelsAreGroups) {
  MachineShape m = shape_of(*tensor_of({"", "4", "x -> x0, x -> x", "Grid(2, 3) of Grid(4)"}).machine, {});
  EXPECT_EQ(m.processors, 24);
  EXPECT_EQ(m.group_size, (std::vector<int64_t>{24, 4, 1}));
  for (int64_t p = 0; p < 24; ++p) EXPECT_EQ(m.processor(m.coordinates(p)), p);
  EXPECT_EQ(m.processor_name(23), "(1, 2 | 3)");
  EXPECT_EQ(m.leader(23, 1), 20);
  EXPECT_EQ(m.leader(23, 2), 23);
  EXPECT_EQ(m.leader(23, 0), 0);
  EXPECT_EQ(m.crossed_level(20, 23), 1);
  EXPECT_EQ(m.crossed_level(19, 20), 0);
}

TEST(Machine, DistancesAreOnTheTorus) {
  MachineShape m = shape_of(*tensor_of({"", "4", "x -> x0", "Grid(4, 5)"}).machine, {});
  EXPECT_EQ(m.distance(m.processor({0, 0}), m.processor({3, 4})), 2);
  EXPECT_EQ(m.distance(m.processor({0, 0}), m.processor({2, 2})), 4);
}

// One limit for the language, the plan and the library.
TEST(Machine, HasUpTo16777216Processors) {
  auto copy_on = [](const std::string& grid) {
    return test::plan_text("machine M = " + grid + "\ntensor a(4) : x -> x0 on M\ntensor b(4)\na(i) = b(i)\n");
  };
  EXPECT_EQ(copy_on("Grid(4096, 4096)").processors, kMaxProcessors);
  for (const char* grid : {"Grid(4097, 4096)", "Grid(4294967296, 4294967296)"}) {
    try {
      copy_on(grid);
      FAIL() << grid;
    } catch (const Error& e) {
      EXPECT_EQ(e.message().rfind("the machine M = ", 0), 0u) << e.message();
      EXPECT_EQ(e.help(), "a machine may have up to 16777216 processors");
    }
  }
}

}  // namespace
}  // namespace distal::core
