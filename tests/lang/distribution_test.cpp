#include "lang/distribution.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lang/parse.h"

namespace distal::core {
namespace {

// The distribution of a tensor T with the given dimensions on the given machine, printed.
std::string distribution(const std::string& dimensions, const std::string& text, const std::string& machine) {
  Module m = parse_module(fmt::format("param n = 8, c = 1, face = 0\nmachine M = {}\ntensor T{} : {} on M\ntensor s\n"
                                      "s = 1\n",
                                      machine, dimensions, text),
                          "t.distal");
  std::string printed = to_string(m);
  EXPECT_TRUE(parse_module(printed, "again") == m) << printed;
  return to_string(*m.tensors[0].distribution);
}

std::string error(const std::string& dimensions, const std::string& text, const std::string& machine) {
  try {
    return "accepted: " + distribution(dimensions, text, machine);
  } catch (const Error& e) {
    EXPECT_GT(e.span().line, 0);
    return e.message();
  }
}

// Legal layouts, which print as they were written.
TEST(Distribution, Layouts) {
  for (auto [dimensions, text, machine] : std::vector<std::tuple<const char*, const char*, const char*>>{
           {"(n)", "x -> x", "Grid(4)"},                     // vector on a line
           {"(n, n)", "xy -> x", "Grid(4)"},                 // rows
           {"(n, n)", "xy -> y", "Grid(4)"},                 // columns
           {"(n, n)", "xy -> xy", "Grid(2, 2)"},             // tiles
           {"(n, n)", "xy -> yx", "Grid(2, 2)"},             // transposed tiles
           {"(n)", "x -> x*", "Grid(2, 2)"},                 // replicated by row
           {"(n)", "x -> *x", "Grid(2, 2)"},                 // and by column
           {"(n, n)", "xy -> x*y", "Grid(2, 2, 2)"},         // a cube with broadcast in the middle
           {"(n, n)", "xy -> *yx", "Grid(2, 2, 2)"},         // first, transposed
           {"(n, n)", "xy -> xy0", "Grid(2, 2, 2)"},         // face 0
           {"(n, n)", "xy -> x1y", "Grid(2, 2, 2)"},         // a non-zero face
           {"(n, n)", "xy -> 0y*", "Grid(2, 2, 2)"},         // a number before a name before a star
           {"(n)", "x -> 20", "Grid(3, 3)"},                 // faces 2 and 0
           {"(n)", "x -> x00", "Grid(2, 2, 2)"},             // an edge
           {"(n, n, n)", "xyz -> xz", "Grid(2, 2)"},         // 3-tensor on a plane
           {"(n, n, n)", "xyz -> zyx", "Grid(2, 2, 2)"},     // and in a cube
           {"", "-> 0", "Grid(4)"},                          // scalars
           {"", "-> *0*", "Grid(2, 2, 2)"},                  //
           {"", "-> 12, 0", "Grid(20, 2)"},                  //
           {"(n)", "x -> x, x -> x", "Grid(2) of Grid(2)"},  // line in line
           {"(n, n)", "xy -> xy, xy -> yx", "Grid(2, 2) of Grid(2, 2)"},
           {"(n, n)", "xy -> **, xy -> xy", "Grid(2, 2) of Grid(2, 2)"},
           {"(n, n)", "xy -> 00, xy -> 11", "Grid(2, 2) of Grid(2, 2)"},
           {"(n)", "e -> 1e5", "Grid(2, 2, 6)"},  // not a floating-point number
           {"(n, n)", "xy -> xy cyclic(x = 64, y)", "Grid(2, 2)"},
           {"(n, n)", "xy -> xy cyclic(x = c + 1), xy -> y cyclic(y)", "Grid(2, 2) of Grid(2)"},
       }) {
    EXPECT_EQ(distribution(dimensions, text, machine), text);
  }
}

TEST(Distribution, LongForm) {
  EXPECT_EQ(distribution("(n, n)", "row, col -> row, 12", "Grid(2, 20)"), "row, col -> row, 12");
  EXPECT_EQ(distribution("(n, n)", "x, y -> y, 1", "Grid(2, 2)"), "xy -> y1");
  EXPECT_EQ(distribution("(n)", "row -> row", "Grid(4)"), "row -> row");
  EXPECT_EQ(distribution("(n)", "xy -> xy", "Grid(4)"), "xy -> xy");
  EXPECT_EQ(distribution("(n)", "x -> 12", "Grid(20)"), "x -> 12");
  EXPECT_EQ(distribution("(n, n)", "xy -> x, c", "Grid(2, 2)"), "x, y -> x, (c)");
  EXPECT_EQ(distribution("(n)", "x -> (c)", "Grid(2)"), "x -> (c)");
  EXPECT_EQ(distribution("(n, n)", "xy -> (n - 1), *", "Grid(8, 2)"), "x, y -> (n - 1), *");
  EXPECT_EQ(distribution("(n)", "face -> face, (face)", "Grid(8, 2)"), "face -> face, (face)");
  EXPECT_EQ(distribution("(n)", "x -> x *", "Grid(8, 2)"), "x -> x*");
}

// Where the list of words between two arrows is split follows from the number of dimensions of the levels; if that is
// ambiguous, from the names.
TEST(Distribution, ListsBetweenArrows) {
  const char* machine = "Grid(2, 2) of Grid(2, 2)";
  EXPECT_EQ(distribution("(n, n)", "xy -> xy, row, col -> row, 0", machine), "x, y -> x, y, row, col -> row, 0");
  EXPECT_EQ(distribution("(n, n)", "row, col -> row, 0, xy -> yx", machine), "row, col -> row, 0, x, y -> y, x");
  EXPECT_EQ(distribution("(n, n)", "aa, bb -> aa, bb, xy -> x*", machine), "aa, bb -> aa, bb, x, y -> x, *");
  EXPECT_EQ(distribution("(n, n)", "xy -> yx, aa, bb -> aa, 0", machine), "x, y -> y, x, aa, bb -> aa, 0");
  EXPECT_EQ(distribution("(n, n)", "row, col -> (c), col cyclic(col), row, col -> 1, row", machine),
            "row, col -> (c), col cyclic(col), row, col -> 1, row");
  EXPECT_EQ(distribution("", "-> 00 -> 0", "Grid(2, 2) of Grid(1)"), "-> 00, -> 0");
  EXPECT_EQ(distribution("", "-> 00, -> 12, -> 1", "Grid(2, 2) of Grid(20) of Grid(2)"), "-> 0, 0, -> 12, -> 1");
}

TEST(Distribution, ValidityRules) {
  EXPECT_EQ(error("(n, n)", "xx -> x0", "Grid(2, 2)"), "`x` names two dimensions of T");
  EXPECT_EQ(error("(n, n)", "xy -> xx", "Grid(2, 2)"), "`x` is partitioned by two machine dimensions");
  EXPECT_EQ(error("(n, n)", "xy -> xz", "Grid(2, 2)"), "`z` is not a dimension of T");
  EXPECT_EQ(error("(n, n)", "row, col -> row, cool", "Grid(2, 2)"), "`cool` is not a dimension of T");
  EXPECT_EQ(error("(n, n)", "xyz -> xy", "Grid(2, 2)"), "the left side names 3 dimensions, but T has 2");
  EXPECT_EQ(error("(n, n)", "x -> x0", "Grid(2, 2)"), "the left side names 1 dimension, but T has 2");
  EXPECT_EQ(error("(n, n)", "-> 00", "Grid(2, 2)"), "the left side names 0 dimensions, but T has 2");
  EXPECT_EQ(error("", "x -> x", "Grid(2)"), "the left side names 1 dimension, but T has 0");
  EXPECT_EQ(error("(n, n)", "xy -> x", "Grid(2, 2)"),
            "the right side names 1 machine dimension, but M = Grid(2, 2) has 2");
  EXPECT_EQ(error("(n, n)", "xy -> xy0", "Grid(2, 2)"),
            "the right side names 3 machine dimensions, but M = Grid(2, 2) has 2");
  EXPECT_EQ(error("(n, n)", "xy -> x, y", "Grid(2)"),
            "the right side names 2 machine dimensions, but M = Grid(2) has 1");
  EXPECT_EQ(error("(n, n)", "xy -> xy", "Grid(2, 2) of Grid(4)"),
            "T has 1 distribution, but its machine M = Grid(2, 2) of Grid(4) has 2 levels");
  EXPECT_EQ(error("(n, n)", "xy -> xy, xy -> x", "Grid(2, 2)"),
            "T has 2 distributions, but its machine M = Grid(2, 2) has 1 level");
  EXPECT_EQ(error("(n, n)", "xy -> xy, xyz -> x", "Grid(2, 2) of Grid(2)"),
            "the left side names 3 dimensions, but T has 2");
  EXPECT_EQ(error("(n, n)", "xy -> x, xy -> x", "Grid(2, 2) of Grid(2)"),
            "the right side names 1 machine dimension, but level 0 of M = Grid(2, 2) of Grid(2), Grid(2, 2), has 2");
  EXPECT_EQ(error("(n, n)", "xy -> a, b, c, d, e -> x", "Grid(2, 2) of Grid(2)"),
            "cannot cut this list into the 2 machine dimensions of level 0 and the 2 dimensions of T");
  EXPECT_EQ(error("(n, n)", "xy -> x-1", "Grid(2, 2)"), "face -1 is negative");
  EXPECT_EQ(error("(n, n)", "row, col -> row, -12", "Grid(2, 2)"), "face -12 is negative");
  EXPECT_EQ(error("(n, n)", "row, col -> row, (1 - 3)", "Grid(2, 2)"), "face -2 is negative");
  EXPECT_EQ(error("(n, n)", "row, col -> row, -c", "Grid(2, 2)"), "a face cannot be negative");
  EXPECT_EQ(error("(n, n)", "x0 -> x0", "Grid(2, 2)"), "`0` cannot name a tensor dimension");
  EXPECT_EQ(error("(n, n)", "x* -> x0", "Grid(2, 2)"), "`*` cannot name a tensor dimension");
  EXPECT_EQ(error("(n, n)", "x, (n) -> x0", "Grid(2, 2)"), "`n` cannot name a tensor dimension");
  EXPECT_EQ(error("(n, n)", "x, y -> x*, 0", "Grid(2, 2)"), "`x*` is not a dimension of T");
  EXPECT_EQ(error("(n, n)", "xy -> x y", "Grid(2, 2)"),
            "expected `on`, `order`, `in`, `cyclic` or the end of the line, found `y`");
  EXPECT_EQ(error("(n)", "x -> c", "Grid(2)"), "`c` is not a dimension of T");
  EXPECT_EQ(error("(n, n)", "row, col -> row, 1.5", "Grid(2, 2)"), "`1.5` is not an integer");
  EXPECT_EQ(error("(n, n)", "row, col -> row, 99999999999999999999", "Grid(2, 2)"),
            "99999999999999999999 does not fit in 64 bits");
  EXPECT_EQ(error("(n, n)", "xy", "Grid(2, 2)"), "expected `->` in the distribution, found `on`");
  EXPECT_EQ(error("(n, n)", "xy -> x, =", "Grid(2, 2)"), "expected a dimension in the distribution, found `=`");
  EXPECT_EQ(error("(n, n)", "xy -> xy cyclic(x), xy", "Grid(2, 2) of Grid(2)"),
            "expected `->` in the distribution of the next level, found `on`");
  EXPECT_EQ(error("(n, n)", "xy -> ", "Grid(2, 2)"),
            "expected `on`, `order`, `in`, `cyclic` or the end of the line, found `M`");
}

TEST(Distribution, CyclicRules) {
  EXPECT_EQ(error("(n, n)", "xy -> x0 cyclic(y = 2)", "Grid(2, 2)"),
            "`cyclic` of `y`, which no machine dimension partitions");
  EXPECT_EQ(error("(n, n)", "xy -> x0 cyclic(z)", "Grid(2, 2)"), "`cyclic` of `z`, which is not a dimension of T");
  EXPECT_EQ(error("(n, n)", "xy -> x0 cyclic(x, x)", "Grid(2, 2)"), "`cyclic` gives the block of `x` twice");
  EXPECT_EQ(error("(n, n)", "xy -> x0 cyclic(x = 0)", "Grid(2, 2)"),
            "the cyclic block of `x` is 0; it must be at least 1");
  EXPECT_EQ(error("(n, n)", "xy -> x0 cyclic()", "Grid(2, 2)"), "`cyclic` names no dimension");
  EXPECT_EQ(error("(n, n)", "xy -> xy, xy -> x in gpu cyclic(x)", "Grid(2, 2) of Grid(2)"),
            "it is not clear which level this `cyclic` belongs to");
}

}  // namespace
}  // namespace distal::core
