// Redistributes tensors from every layout to every other, and compares the elements that each processor holds.

#include <distal/distal.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "api/errors.h"

namespace distal {
namespace {

constexpr int64_t kRows = 7;
constexpr int64_t kColumns = 11;

struct Layout {
  std::string name;
  Format format;
};

Format dense(const Distribution& distribution) { return Format({Dense, Dense}, distribution); }

Distribution cyclic(Distribution distribution, std::vector<Distribution::Cyclic> dimensions) {
  for (const auto& c : dimensions) distribution.cyclic(c.tensor_dimension, c.block, c.level);
  return distribution;
}

std::vector<Layout> layouts() {
  Machine grid(Grid(2, 3)), line(Grid(4)), square(Grid(2, 2)), cube(Grid(2, 2, 2)), long_line(Grid(9));
  Machine nodes({Grid(2), Grid(3)}), deep({Grid(2, 2), Grid(2)});
  Everywhere all;
  Distribution tiles(square, {0, 1});
  return {
      {"first_processor", Format()},
      {"first_processor_column_major", Format({Dense, Dense}, {1, 0})},
      {"one_processor", dense(Distribution(Machine(Grid(1)), {0}))},
      {"rows_of_a_line", dense(Distribution(line, {0}))},
      {"columns_of_a_line", dense(Distribution(line, {1}))},
      {"rows_with_empty_tiles", dense(Distribution(long_line, {0}))},
      {"cyclic_rows_of_a_line", dense(cyclic(Distribution(line, {0}), {{0, 2, 0}}))},
      {"end_of_a_line", dense(Distribution(long_line, {Face{8}}))},
      {"everywhere_on_a_line", dense(Distribution(line, {all}))},
      {"tiles", dense(Distribution(grid, {0, 1}))},
      {"tiles_transposed", dense(Distribution(grid, {1, 0}))},
      {"tiles_column_major", Format({Dense, Dense}, {1, 0}, Distribution(grid, {0, 1}))},
      {"rows_on_a_face", dense(Distribution(grid, {0, Face{0}}))},
      {"columns_on_the_other_face", dense(Distribution(grid, {Face{1}, 1}))},
      {"rows_replicated", dense(Distribution(grid, {0, all}))},
      {"columns_replicated", dense(Distribution(grid, {all, 1}))},
      {"everywhere", dense(Distribution(grid, {all, all}))},
      {"corner", dense(Distribution(grid, {Face{1}, Face{2}}))},
      {"square_tiles", dense(tiles)},
      {"scalapack", Format({Dense, Dense}, {1, 0}, cyclic(tiles, {{0, 2, 0}, {1, 3, 0}}))},
      {"cyclic_elements", dense(cyclic(tiles, {{0, 1, 0}, {1, 1, 0}}))},
      {"cube_broadcast_last", dense(Distribution(cube, {0, 1, all}))},
      {"cube_face_and_broadcast", dense(Distribution(cube, {Face{1}, all, 0}))},
      {"rows_of_columns", dense(Distribution::hierarchical(nodes, {{0}, {1}}))},
      {"rows_of_rows", dense(Distribution::hierarchical(nodes, {{0}, {0}}))},
      {"broadcast_above", dense(Distribution::hierarchical(nodes, {{all}, {1}}))},
      {"broadcast_below", dense(Distribution::hierarchical(deep, {{1, 0}, {all}}))},
      {"face_above", dense(Distribution::hierarchical(nodes, {{Face{1}}, {0}}))},
      {"cyclic_of_blocks", dense(cyclic(Distribution::hierarchical(nodes, {{0}, {1}}), {{0, 2, 0}, {1, 3, 1}}))},
      {"blocks_of_cyclic", dense(cyclic(Distribution::hierarchical(nodes, {{1}, {1}}), {{1, 2, 0}}))},
      {"cyclic_of_cyclic", dense(cyclic(Distribution::hierarchical(deep, {{0, 1}, {1}}), {{1, 2, 0}, {1, 1, 1}}))},
  };
}

using Point = std::vector<int64_t>;

// The coordinates of a piece along a dimension, in the order in which they are packed.
std::vector<int64_t> packed(const PieceInfo& piece, size_t dimension) {
  std::set<int64_t> all;
  for (const Rectangle& r : piece.rectangles) {
    for (int64_t x = r.lo[dimension]; x < r.hi[dimension]; ++x) all.insert(x);
  }
  return {all.begin(), all.end()};
}

// The elements of every processor, read from memory with the strides of its piece.
template <class T>
std::map<int64_t, std::map<Point, T>> held(Tensor<T>& tensor) {
  std::map<int64_t, std::map<Point, T>> out;
  for (const PieceInfo& piece : tensor.pieces()) {
    std::vector<int64_t> rows = packed(piece, 0), columns = packed(piece, 1);
    for (size_t r = 0; r < rows.size(); ++r) {
      for (size_t c = 0; c < columns.size(); ++c) {
        int64_t at = static_cast<int64_t>(r) * piece.strides[0] + static_cast<int64_t>(c) * piece.strides[1];
        out[piece.processor][{rows[r], columns[c]}] = static_cast<const T*>(piece.data)[at];
      }
    }
  }
  return out;
}

template <class T>
int64_t missing_bytes(const std::map<int64_t, std::map<Point, T>>& before,
                      const std::map<int64_t, std::map<Point, T>>& after) {
  int64_t missing = 0;
  for (const auto& [processor, elements] : after) {
    auto had = before.find(processor);
    for (const auto& [at, value] : elements) missing += had == before.end() || had->second.count(at) == 0 ? 1 : 0;
  }
  return missing * static_cast<int64_t>(sizeof(T));
}

template <class T>
Tensor<T> random_tensor(const Format& format, unsigned seed) {
  Tensor<T> tensor({kRows, kColumns}, format);
  std::mt19937 random(seed);
  std::vector<T> values;
  for (int64_t i = 0; i < kRows * kColumns; ++i) values.push_back(static_cast<T>(static_cast<float>(random() % 1000)));
  tensor.fill([&](const Point& at) { return values[static_cast<size_t>(at[0] * kColumns + at[1])]; });
  return tensor;
}

template <class T>
void expect_redistributed(const Layout& from, const Layout& to, const RunOptions& options, unsigned seed) {
  SCOPED_TRACE(from.name + " to " + to.name);
  Tensor<T> tensor = random_tensor<T>(from.format, seed);
  auto before = held(tensor);
  std::map<Point, T> values;
  for (const auto& [processor, elements] : before) values.insert(elements.begin(), elements.end());

  Cost cost = tensor.redistribution_cost(to.format);
  RunReport report = tensor.redistribute(to.format, options);

  auto after = held(tensor);
  Tensor<T> fresh({kRows, kColumns}, to.format);
  auto wanted = held(fresh);
  ASSERT_EQ(after.size(), wanted.size());
  for (const auto& [processor, elements] : after) {
    ASSERT_EQ(elements.size(), wanted.at(processor).size()) << "processor " << processor;
    for (const auto& [at, value] : elements) {
      ASSERT_EQ(value, values.at(at)) << at[0] << ", " << at[1] << " on processor " << processor;
    }
  }
  EXPECT_EQ(report.bytes_moved, missing_bytes(before, after));
  EXPECT_EQ(report.bytes_moved, cost.bytes_moved);
  EXPECT_EQ(report.messages, cost.messages);
}

class Redistribute : public testing::TestWithParam<size_t> {};

TEST_P(Redistribute, FromEveryLayout) {
  std::vector<Layout> all = layouts();
  for (size_t from = 0; from < all.size(); ++from) {
    RunOptions options{2, (from + GetParam()) % 2 == 1};
    expect_redistributed<int32_t>(all[from], all[GetParam()], options, static_cast<unsigned>(from));
  }
}

INSTANTIATE_TEST_SUITE_P(To, Redistribute, testing::Range(size_t{0}, layouts().size()),
                         [](const auto& tested) { return layouts()[tested.param].name; });

template <class T>
class RedistributeTyped : public testing::Test {};
using ElementTypes = testing::Types<float, double, int32_t, int64_t, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(RedistributeTyped, ElementTypes);

TYPED_TEST(RedistributeTyped, RoundAboutAndBack) {
  std::vector<Layout> all = layouts();
  auto named = [&](const std::string& name) {
    return *std::find_if(all.begin(), all.end(), [&](const Layout& l) { return l.name == name; });
  };
  Tensor<TypeParam> tensor = random_tensor<TypeParam>(named("rows_of_a_line").format, 5);
  auto before = held(tensor);
  for (const char* name : {"square_tiles", "scalapack", "everywhere", "rows_of_a_line"}) {
    tensor.redistribute(named(name).format);
  }
  EXPECT_EQ(held(tensor), before);
  expect_redistributed<TypeParam>(named("scalapack"), named("rows_replicated"), {}, 3);
}

TEST(Redistribution, OfAScalarAndOfACube) {
  Machine line(Grid(4)), grid(Grid(2, 3));
  Tensor<int64_t> scalar({}, Format({}, Distribution(line, {Face{2}})));
  scalar.set({}, 42);
  EXPECT_EQ(scalar.redistribute(Format({}, Distribution(grid, {Everywhere{}, Face{1}}))).bytes_moved, 16)
      << "to processors 1 and 4, and neither is 2";
  EXPECT_EQ(scalar.at({}), 42);
  EXPECT_EQ(scalar.pieces().size(), 2u);
  for (const PieceInfo& piece : scalar.pieces()) EXPECT_EQ(*static_cast<int64_t*>(piece.data), 42);

  Tensor<int64_t> cube({3, 5, 4}, Format({Dense, Dense, Dense}, Distribution(grid, {2, 0})));
  cube.fill([](const Point& at) { return at[0] * 100 + at[1] * 10 + at[2]; });
  cube.redistribute(Format({Dense, Dense, Dense}, {2, 0, 1}, Distribution(line, {1})));
  cube.for_each([](const Point& at, int64_t& v) { ASSERT_EQ(v, at[0] * 100 + at[1] * 10 + at[2]); });
}

TEST(Redistribution, KnowsSizesAtRunTime) {
  Param n(10), p(2), block(3);
  Machine m{Grid(p)};
  Tensor<double> a({n}, Format({Dense}, Distribution(m, {0})));
  Distribution dealt(m, {0});
  dealt.cyclic(0, block);
  n = 13;
  p = 3;
  a.fill([](const Point& at) { return static_cast<double>(at[0]); });
  a.redistribute(Format({Dense}, dealt));
  a.for_each([](const Point& at, double& v) { ASSERT_EQ(v, static_cast<double>(at[0])); });
  EXPECT_EQ(a.pieces()[1].rectangles, (std::vector<Rectangle>{{{3}, {6}}, {{12}, {13}}}));
}

// A and B are distributed by rows. A(i, j) = 2 * B(i, j) is computed where the rows are.
struct Doubling {
  Machine m{Grid(3), "M"};
  Format rows{{Dense, Dense}, Distribution(m, {0})};
  Format columns{{Dense, Dense}, Distribution(m, {1})};
  Tensor<double> A{"A", {6, 7}, rows}, B{"B", {6, 7}, rows};

  void define(bool follow_b) {
    IndexVar i("i"), j("j"), io("io"), ii("ii");
    A(i, j) = 2 * B(i, j);
    if (follow_b) {
      A.schedule().distribute({i}, {io}, {ii}, B).communicate({A, B}, io);
    } else {
      A.schedule().distribute({i}, {io}, {ii}, m).communicate({A, B}, io);
    }
    B.fill([](const Point& at) { return static_cast<double>(at[0] * 7 + at[1]); });
  }
  void expect_doubled() {
    A.for_each([](const Point& at, double& v) { ASSERT_EQ(v, static_cast<double>(2 * (at[0] * 7 + at[1]))); });
  }
};

TEST(Redistribution, KernelsFollowTheNewFormat) {
  Doubling d;
  d.define(false);
  Kernel kernel = d.A.compile();
  EXPECT_EQ(kernel.run().bytes_moved, 0);
  d.expect_doubled();
  d.B.redistribute(d.columns);
  d.A.fill([](const Point&) { return -1.0; });
  RunReport report = kernel.run();
  d.expect_doubled();
  EXPECT_GT(report.bytes_moved, 0) << "B is elsewhere now";
  EXPECT_EQ(report.bytes_moved, kernel.cost().bytes_moved);
  EXPECT_NE(kernel.text().find("tensor B(6, 7) : xy -> y on M"), std::string::npos) << kernel.text();
  d.B.redistribute(d.rows);
  EXPECT_EQ(kernel.run().bytes_moved, 0);
}

TEST(Redistribution, AKernelThatDoesNotFitTheNewFormatSaysSo) {
  Doubling d;
  d.define(true);
  Kernel kernel = d.A.compile();
  kernel.run();
  d.B.redistribute(d.columns);
  for (int time = 0; time < 2; ++time) {
    std::string text = error_of([&] { kernel.run(); });
    EXPECT_NE(text.find("B is cut along its index j, and no target is made from j"), std::string::npos) << text;
  }
  d.B.redistribute(Format({Dense, Dense}, Distribution(Machine(Grid(2, 2), "N"), {0, 1})));
  std::string text = error_of([&] { kernel.run(); });
  EXPECT_NE(text.find("A is on M = Grid(3), but B is on N = Grid(2, 2)"), std::string::npos) << text;
  d.B.redistribute(d.rows);
  kernel.run();
  d.expect_doubled();
}

TEST(Redistribution, LeavesTheCallersBuffers) {
  Machine m(Grid(2));
  Tensor<double> a({4}, Format({Dense}, Distribution(m, {0})));
  std::vector<double> first{1, 2}, second{3, 4};
  a.bind(0, first.data());
  a.bind(1, second.data());
  Distribution dealt(m, {0});
  dealt.cyclic(0);
  a.redistribute(Format({Dense}, dealt));
  a.set({0}, 99);
  EXPECT_EQ(first, (std::vector<double>{1, 2})) << "the old buffers keep the old elements";
  EXPECT_EQ(a.at({2}), 3);
  std::vector<double> even(2), odd(2);
  a.bind(0, even.data());
  a.bind(1, odd.data());
  a.set({3}, 5);
  EXPECT_EQ(odd[1], 5) << "new ones are for the new pieces";
}

TEST(Redistribution, WritesStraightIntoTheCallersBuffers) {
  Machine line(Grid(4)), grid(Grid(2, 2));
  Tensor<double> rows({4, 4}, Format({Dense, Dense}, Distribution(line, {0})));
  rows.fill([](const Point& at) { return static_cast<double>(at[0] * 4 + at[1]); });
  Distribution dealt(grid, {0, 1});
  dealt.cyclic(0).cyclic(1);
  Tensor<double> scalapack({4, 4}, Format({Dense, Dense}, {1, 0}, dealt));
  std::vector<std::vector<double>> buffers(4, std::vector<double>(4));
  for (int64_t p = 0; p < 4; ++p) scalapack.bind(p, buffers[static_cast<size_t>(p)].data());
  RunReport report = scalapack.copy_from(rows);
  EXPECT_EQ(buffers[0], (std::vector<double>{0, 8, 2, 10})) << "column by column";
  EXPECT_EQ(buffers[3], (std::vector<double>{5, 13, 7, 15}));
  EXPECT_EQ(report.bytes_moved, 12 * 8) << "processors 0 and 3 have two of their four elements already";
  // The same as a statement: a copy may go from one machine to another.
  IndexVar i, j;
  scalapack(i, j) = rows(i, j);
  rows.set({0, 0}, 77);
  scalapack.compile().run();
  EXPECT_EQ(buffers[0][0], 77);
}

TEST(Redistribution, RefusesWhatDoesNotFit) {
  Tensor<double> a("a", {4}), b("b", {5});
  Tensor<float> c("c", {4});
  EXPECT_NE(error_of([&] { a.copy_from(b); }).find("index i has extent 4 in a dimension 0 but 5 in b dimension 0"),
            std::string::npos);
  Tensor<double> named("named", {4, 4});
  EXPECT_EQ(error_of([&] { named.redistribute(Format({Dense}, Distribution(Machine(Grid(2)), {0}))); }),
            "error: named.redistribute(): the format has 1 mode, and the tensor 2 dimensions\n"
            "  help: give one of them for each dimension, as in {Dense, Dense}");
  EXPECT_NE(error_of([&] { a.copy_from(c); }).find("a program computes with one type"), std::string::npos);
  a.set({3}, 8);
  Machine m(Grid(2));
  EXPECT_NE(error_of([&] { a.redistribute(Format({Dense}, Distribution(m, {Face{2}}))); }).find("face 2"),
            std::string::npos);
  EXPECT_EQ(a.at({3}), 8) << "a refused redistribution leaves the tensor as it was";
}

}  // namespace
}  // namespace distal
