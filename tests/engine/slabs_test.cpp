#include "store/slabs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "support/layouts.h"

namespace distal::core {
namespace {

// An array of numbers, each of which is the place of its element in row-major order.
struct Source {
  Coordinates shape;
  std::vector<int> order;
  int64_t elements_read = 0, largest_rect = 0;

  int64_t value(const Coordinates& at) const {
    int64_t out = 0;
    for (size_t d = 0; d < at.size(); ++d) out = out * shape[d] + at[d];
    return out;
  }

  ReadRect reader() {
    return [this](std::span<const int64_t> lo, std::span<const int64_t> hi, std::byte* to) {
      Rect rect{{lo.begin(), lo.end()}, {hi.begin(), hi.end()}};
      View view = dense_view(to, rect, order);
      for_each_point(rect, [&](const Coordinates& at) {
        int64_t offset = view.offset, element = value(at);
        for (size_t d = 0; d < at.size(); ++d) offset += at[d] * view.strides[d];
        std::memcpy(view.data + offset * 8, &element, 8);
      });
      elements_read += rect.volume();
      largest_rect = std::max(largest_rect, rect.volume());
    };
  }
};

std::vector<int> order_of(size_t dimensions, bool reversed) {
  std::vector<int> out;
  for (size_t d = 0; d < dimensions; ++d) out.push_back(static_cast<int>(reversed ? dimensions - 1 - d : d));
  return out;
}

// The pieces of one of several processes; processors are dealt out to them.
struct Process {
  Allocator allocator;
  TensorPieces pieces;

  Process(const Tensor& tensor, int number, int processes, bool columns_first = false)
      : allocator(1 << 10),
        pieces(Ownership(tensor, {}), ElementType::Int64, order_of(tensor.dimensions.size(), columns_first)) {
    pieces.allocate_cleared(allocator, [&](int64_t p) { return p % processes == number; });
  }

  // The number of elements that differ from the source's.
  int64_t wrong_elements(const Source& source) const {
    int64_t wrong = 0;
    for (int64_t p = 0; p < pieces.owners().machine().processors; ++p) {
      if (!pieces.is_ours(p)) continue;
      for (const Rect& rect : pieces.owners().rects_of(p)) {
        for_each_point(rect, [&](const Coordinates& at) {
          int64_t got = 0;
          std::memcpy(&got, pieces.element(p, at), 8);
          wrong += got == source.value(at) ? 0 : 1;
        });
      }
    }
    return wrong;
  }
};

class Slabs : public ::testing::TestWithParam<test::Layout> {};

TEST_P(Slabs, PiecesOfEachProcessAreLoadedAndAllAreSavedOnce) {
  Tensor tensor = test::tensor_of(GetParam());
  Coordinates shape = Ownership(tensor, {}).shape();
  int64_t elements = whole(shape).volume();
  for (int processes : {1, 2, 3}) {
    for (bool reversed : {false, true}) {
      std::vector<int64_t> saved(static_cast<size_t>(elements), -1);
      for (int number = 0; number < processes; ++number) {
        Process process(tensor, number, processes, processes == 2);
        Source source{shape, order_of(shape.size(), reversed)};
        load_pieces(process.pieces, source.order, source.reader());
        EXPECT_EQ(process.wrong_elements(source), 0);
        save_pieces(process.pieces, [&](auto lo, auto hi, const std::byte* from) {
          for_each_point(Rect{{lo.begin(), lo.end()}, {hi.begin(), hi.end()}}, [&](const Coordinates& at) {
            int64_t& element = saved[static_cast<size_t>(source.value(at))];
            EXPECT_EQ(element, -1) << "written twice";
            std::memcpy(&element, from, 8);
            from += 8;
          });
        });
      }
      for (int64_t i = 0; i < elements; ++i) ASSERT_EQ(saved[static_cast<size_t>(i)], i);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Slabs, ::testing::ValuesIn(test::all_layouts()),
                         [](const auto& layout) { return layout.param.name; });

TEST(LargeSlabs, AProcessReadsItsPieceInSlabs) {
  for (const char* distribution : {"xy -> xy", "xy -> x", "xy -> y"}) {
    for (bool reversed : {false, true}) {
      test::Layout layout{"", "1500, 3000", distribution,
                          std::string(distribution) == "xy -> xy" ? "Grid(2, 2)" : "Grid(4)"};
      Process process(test::tensor_of(layout), 2, 4);
      Source source{{1500, 3000}, order_of(2, reversed)};
      load_pieces(process.pieces, source.order, source.reader());
      EXPECT_EQ(process.wrong_elements(source), 0);
      EXPECT_EQ(source.elements_read, 1500 * 3000 / 4) << distribution;
      EXPECT_LE(source.largest_rect * 8, kSlabBytes);
      EXPECT_GT(source.largest_rect * 8, kSlabBytes / 2);
      int64_t written = 0, largest = 0;
      save_pieces(process.pieces, [&](auto lo, auto hi, const std::byte*) {
        int64_t volume = Rect{{lo.begin(), lo.end()}, {hi.begin(), hi.end()}}.volume();
        written += volume;
        largest = std::max(largest, volume);
      });
      EXPECT_EQ(written, 1500 * 3000 / 4);
      EXPECT_LE(largest * 8, kSlabBytes);
    }
  }
}

// Between rows that are far apart nothing is read. If columns are close together, everything between them is read.
TEST(LargeSlabs, WhatIsDealtOutIsReadInLongRuns) {
  Source rows{{1500, 3000}, {0, 1}}, columns{{1500, 3000}, {0, 1}};
  Process of_rows(test::tensor_of({"", "1500, 3000", "xy -> x cyclic(x)", "Grid(4)"}), 1, 4);
  load_pieces(of_rows.pieces, rows.order, rows.reader());
  EXPECT_EQ(rows.elements_read, 1500 * 3000 / 4);
  Process of_columns(test::tensor_of({"", "1500, 3000", "xy -> y cyclic(y)", "Grid(4)"}), 1, 4);
  load_pieces(of_columns.pieces, columns.order, columns.reader());
  EXPECT_EQ(columns.elements_read, 1500 * (3000 - 3));
  EXPECT_EQ(of_rows.wrong_elements(rows) + of_columns.wrong_elements(columns), 0);
}

TEST(LargeSlabs, AWholeArrayIsReadInRowMajorOrder) {
  for (bool reversed : {false, true}) {
    Source source{{700, 1100}, order_of(2, reversed)};
    std::vector<std::byte> bytes = read_whole(ElementType::Int64, source.shape, source.order, source.reader());
    ASSERT_EQ(bytes.size(), 700U * 1100 * 8);
    for (int64_t i = 0; i < 700 * 1100; ++i) {
      int64_t value = 0;
      std::memcpy(&value, bytes.data() + i * 8, 8);
      ASSERT_EQ(value, i);
    }
    EXPECT_LE(source.largest_rect * 8, kSlabBytes);
  }
  Source scalar{{}, {}};
  EXPECT_EQ(read_whole(ElementType::Int64, {}, {}, scalar.reader()).size(), 8U);
}

}  // namespace
}  // namespace distal::core
