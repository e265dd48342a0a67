#include <distal/distal.h>
#include <gtest/gtest.h>

#include "api/errors.h"

namespace distal {
namespace {

// The text of a kernel in which A has the format.
std::string text_with(const Format& format, int dimensions) {
  IndexVar i("i"), j("j");
  std::vector<Int> shape(static_cast<size_t>(dimensions), Int(6));
  Tensor<double> A("A", shape, format), b("b", {});
  if (dimensions == 1) b() = A(i);
  if (dimensions == 2) b() = A(i, j);
  return b.compile().text();
}

TEST(ParseFormat, MeansWhatItMeansInAFile) {
  Machine m(Grid(2, 3), "M");
  Distribution tiles(m, {1, 0}), face(m, {0, Face{2}}), copies(m, {Everywhere{}, 0});
  tiles.cyclic(0, 2);
  EXPECT_EQ(text_with(Format::parse("xy -> yx cyclic(x = 2)", 2, m), 2), text_with(Format({Dense, Dense}, tiles), 2));
  EXPECT_EQ(text_with(Format::parse(": x -> x2 on M", 1, m), 1), text_with(Format({Dense}, face), 1));
  EXPECT_EQ(text_with(Format::parse("x -> *x", 1, m), 1), text_with(Format({Dense}, copies), 1));
  EXPECT_EQ(text_with(Format::parse("order(1, 0)", 2), 2), text_with(Format({Dense, Dense}, {1, 0}), 2));
}

TEST(ParseFormat, HasLevelsAndParams) {
  Machine m({Grid(2), Grid(3)}, "M");
  Param face("f", 1), block("b", 2);
  Distribution levels = Distribution::hierarchical(m, {{0}, {Face{face + 1}}});
  levels.cyclic(0, block);
  Format parsed = Format::parse("x -> x cyclic(x = b), x -> (f + 1)", 1, m, {face, block});
  EXPECT_EQ(text_with(parsed, 1), text_with(Format({Dense}, levels), 1));
  EXPECT_EQ(std::get<Face>(parsed.distribution()->levels()[1][0].role()).at.value(), 2);
  Param g("g", 2);
  Machine row(Grid(g), "R");
  EXPECT_EQ(text_with(Format::parse("x -> x", 1, row), 1), text_with(Format({Dense}, Distribution(row, {0})), 1));
  face = 0;
  EXPECT_EQ(std::get<Face>(parsed.distribution()->levels()[1][0].role()).at.value(), 1);
}

TEST(ParseFormat, RefusesWhatAFileMayNotSay) {
  Machine m(Grid(2), "M");
  EXPECT_EQ(message_of([] { Format::parse("x -> x on Grid(2)", 1); }),
            "the format `x -> x on Grid(2)` writes its machine in place");
  EXPECT_EQ(message_of([&] { Format::parse("x -> x on Grid(3)", 1, m); }),
            "the format `x -> x on Grid(3)` writes its machine in place");
  EXPECT_EQ(message_of([&] { Format::parse("x -> x on Q", 1, m); }), "unknown machine `Q`");
  EXPECT_EQ(message_of([&] { Format::parse("", 1, m); }), "the format is empty");
  EXPECT_EQ(message_of([&] { Format::parse("x -> x", -1, m); }), "a format of -1 dimensions");
  EXPECT_NE(error_of([&] { Format::parse("x -> y", 1, m); }).find("format:1:6"), std::string::npos);
}

TEST(Layout, TellsTheTypeOfTheElements) {
  EXPECT_EQ(Tensor<int32_t>({2}).type(), ElementKind::Int32);
  EXPECT_EQ(TensorHandle(ElementKind::ComplexFloat, "A", {}, {}).type(), ElementKind::ComplexFloat);
}

TEST(Layout, IsThatOfThePiecesAndTakesNoMemory) {
  Param n(10);
  Machine m(Grid(2, 2));
  Tensor<double> T({n, n}, Format::parse("xy -> xy cyclic(x = 3, y = 2) order(1, 0)", 2, m));
  auto expect_alike = [&] {
    std::vector<PieceInfo> layout = T.layout(), pieces = T.pieces();
    ASSERT_EQ(layout.size(), pieces.size());
    for (size_t p = 0; p < pieces.size(); ++p) {
      EXPECT_EQ(layout[p].processor, pieces[p].processor);
      EXPECT_EQ(layout[p].rectangles, pieces[p].rectangles);
      EXPECT_EQ(layout[p].extents, pieces[p].extents);
      EXPECT_EQ(layout[p].strides, pieces[p].strides);
      EXPECT_EQ(layout[p].data, nullptr);
    }
  };
  expect_alike();
  n = 2;  // some processors own nothing
  expect_alike();
  n = int64_t{1} << 25;  // more than any memory
  EXPECT_EQ((Tensor<double>({n, n}, Format::parse("xy -> xy", 2, m)).layout().size()), 4u);
}

}  // namespace
}  // namespace distal
