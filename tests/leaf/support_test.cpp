// The headers whose text is a part of generated code, compiled as headers.

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "leaf/blocked_source.h"
#include "leaf/support_text.h"

namespace product_of_two {
using T = double;
enum { FACTORS = 0 };
#include "leaf/support/register_blocks.h"
}  // namespace product_of_two

namespace product_of_four {
using T = int;
enum { FACTORS = 2 };
#include "leaf/support/register_blocks.h"
}  // namespace product_of_four

namespace streams {
using T = float;
using Int = long;
#include "leaf/support/nontemporal.h"
}  // namespace streams

namespace tiles {
using T = double;
using Int = long;
enum { TILE = 32, ROW = 40 };
#include "leaf/support/transpose.h"
}  // namespace tiles

namespace distal::core {
namespace {

// A matrix with any strides in memory of its own.
template <class T>
struct Table {
  std::vector<T> data;
  std::vector<long> row, column;  // offsets

  Table(long rows, long columns, long row_stride, long column_stride) {
    for (long r = 0; r < rows; ++r) row.push_back(r * row_stride);
    for (long c = 0; c < columns; ++c) column.push_back(c * column_stride);
    data.resize(static_cast<size_t>(row.back() + column.back() + 1));
  }
  T& at(size_t r, size_t c) { return data[static_cast<size_t>(row[r] + column[c])]; }
};

template <class T>
Table<T> random_table(long rows, long columns, std::mt19937& random) {
  bool by_rows = random() % 2 == 0;
  long gap = static_cast<long>(random() % 3), step = random() % 4 == 0 ? 2 : 1;
  Table<T> out =
      by_rows ? Table<T>(rows, columns, columns * step + gap, step) : Table<T>(rows, columns, step, rows * step + gap);
  for (T& x : out.data) x = static_cast<T>(random() % 7) - 3;
  return out;
}

bool rows_are_contiguous(const std::vector<long>& offset) {
  return std::adjacent_find(offset.begin(), offset.end(), [](long a, long b) { return b != a + 1; }) == offset.end();
}

// Runs the code on a random product and compares every element.
template <class T, int kFactors, class Run>
void check_blocks(std::mt19937& random, const Run& run) {
  constexpr long lanes = kVectorBytes / static_cast<long>(sizeof(T));
  long m = 1 + static_cast<long>(random() % 20), n = 1 + static_cast<long>(random() % 70),
       k = 1 + static_cast<long>(random() % 200);
  Table<T> left = random_table<T>(m, k, random), right = random_table<T>(k, n, random),
           out = random_table<T>(m, n, random);
  std::vector<Table<T>> factors;
  for (int f = 0; f < kFactors; ++f) factors.push_back(random_table<T>(m, n, random));
  const T scale = 3;
  const bool overwrite = random() % 2 == 0;
  Table<T> want = out;
  for (size_t r = 0; r < static_cast<size_t>(m); ++r) {
    for (size_t c = 0; c < static_cast<size_t>(n); ++c) {
      T sum = 0;
      for (size_t x = 0; x < static_cast<size_t>(k); ++x) sum += left.at(r, x) * right.at(x, c);
      for (Table<T>& f : factors) sum *= f.at(r, c);
      want.at(r, c) = scale * sum + (overwrite ? 0 : want.at(r, c));
    }
  }
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  long width = (n + lanes - 1) / lanes * lanes;
  std::vector<Line> packed_right(static_cast<size_t>(width * k) * sizeof(T) / 64 + 1);
  std::vector<Line> packed_left(static_cast<size_t>(m * k) * sizeof(T) / 64 + 1);
  std::vector<const T*> factor;
  std::vector<const long*> factor_row, factor_column;
  for (Table<T>& f : factors) {
    factor.push_back(f.data.data());
    factor_row.push_back(f.row.data());
    factor_column.push_back(f.column.data());
  }
  const long run_begin[] = {0, k};
  BlockedJob<T> job{};
  job.rows = m, job.columns = n, job.sums = k;
  job.left = left.data.data(), job.left_row = left.row.data(), job.left_sum = left.column.data();
  job.right = right.data.data(), job.right_sum = right.row.data(), job.right_column = right.column.data();
  job.output = out.data.data(), job.output_row = out.row.data(), job.output_column = out.column.data();
  job.factor = factor.data(), job.factor_row = factor_row.data(), job.factor_column = factor_column.data();
  job.scale = &scale;
  job.packed_right = reinterpret_cast<T*>(packed_right.data());
  job.packed_left = reinterpret_cast<T*>(packed_left.data());
  job.runs = 1, job.run_begin = run_begin;
  job.left_contiguous = job.left_runs_contiguous = rows_are_contiguous(left.column);
  job.right_runs_contiguous = rows_are_contiguous(right.row);
  job.column_run = n;
  job.overwrite = overwrite;
  job.pack_only = 1;
  run(job);
  job.pack_only = 0;
  run(job);
  EXPECT_EQ(out.data, want.data) << m << " x " << n << " x " << k;
}

TEST(RegisterBlocks, AreRightForRandomTables) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    check_blocks<double, 0>(random, [](const auto& job) { product_of_two::multiply(job); });
    check_blocks<int, 2>(random, [](const auto& job) { product_of_four::multiply(job); });
  }
}

TEST(Nontemporal, CopiesExactlyItsElements) {
  std::vector<float> from(200);
  std::iota(from.begin(), from.end(), 1.0F);
  for (size_t first = 0; first < 20; ++first) {
    for (size_t n : {0, 1, 15, 16, 17, 64, 100}) {
      std::vector<float> to(200, -1), want = to;
      std::copy_n(from.begin() + 3, n, want.begin() + static_cast<std::ptrdiff_t>(first));
      streams::copy_nontemporal(to.data() + first, from.data() + 3, static_cast<long>(n));
      EXPECT_EQ(to, want) << first << " " << n;
    }
  }
}

TEST(Transpose, SwapsRowsAndColumnsOfATile) {
  constexpr size_t step = 51;
  std::vector<double> from(step * tiles::TILE), to(size_t{tiles::TILE} * tiles::ROW, -1);
  std::iota(from.begin(), from.end(), 1.0);
  tiles::transpose_tile(from.data(), step, to.data());
  for (size_t y = 0; y < tiles::TILE; ++y) {
    for (size_t x = 0; x < tiles::ROW; ++x) {
      EXPECT_EQ(to[y * tiles::ROW + x], x < tiles::TILE ? from[x * step + y] : -1);
    }
  }
}

TEST(SupportText, HasWhatItsHeaderIncludes) {
  std::string text = leaf_support_text("register_blocks.h");
  EXPECT_EQ(text.find("#include"), std::string::npos);
  EXPECT_EQ(text.find("#pragma once"), std::string::npos);
  EXPECT_LT(text.find("struct BlockedJob"), text.find("typedef distal::core::BlockedJob<T> Job;"));
}

}  // namespace
}  // namespace distal::core
