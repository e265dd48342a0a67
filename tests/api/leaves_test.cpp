// Leaves that run in the caller's own runtime.

#include "distal/leaves.h"

#include <gtest/gtest.h>

#include "distal/error.h"

namespace distal {
namespace {

constexpr const char* kGemm = R"(param n = 4, g = 2
machine M = Grid(g)
tensor A(n, n) : xy -> x on M
tensor B(n, n) : xy -> x on M
tensor C(n, n)
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute(i, io, ii, M)
  communicate({A, B, C}, io)
)";

// The memory has only the rows of one processor. So the address of element (0, 0) is before its beginning.
TEST(Leaves, RunOnAnyRectangles) {
  constexpr int64_t n = 5, first = 3;
  Leaves leaves(kGemm, {{"n", n}}, "double", {{"ii", "io"}});
  std::vector<double> a(2 * n, 1), b(2 * n), c(n * n);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i % 7) - 2;
  for (size_t i = 0; i < c.size(); ++i) c[i] = static_cast<double>(i % 5) - 1;
  const int64_t rows[] = {n, 1};
  leaves.run(0, {0, 1}, {{a.data() - first * n, rows}, {b.data() - first * n, rows}, {c.data(), rows}});
  for (size_t i = 0; i < 2; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k) sum += b[i * n + k] * c[k * n + j];
      EXPECT_EQ(a[i * n + j], sum) << i << ", " << j;
    }
  }
  EXPECT_TRUE(leaves.begins(0)) << "the whole sum is in the leaf, so it overwrites the output";
  EXPECT_FALSE(leaves.description(0).empty());
}

TEST(Leaves, HaveWorkspaces) {
  Leaves leaves(R"(param n = 2
tensor A(n, n)
tensor B(n, n, n)
tensor C(n, n)
tensor D(n, n)
A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
schedule
  reorder({i, j, k, l})
  precompute(B(i, j, k) * D(k, l), {l}, {lw}, W)
)",
                {}, "int64", {{}});
  std::vector<int64_t> a(4, 0), b{1, 2, 3, 4, 5, 6, 7, 8}, c{1, -1, 2, 3}, d{2, 0, 1, -3}, expected(4, 0);
  for (size_t i = 0; i < 2; ++i) {
    for (size_t l = 0; l < 2; ++l) {
      for (size_t j = 0; j < 2; ++j) {
        for (size_t k = 0; k < 2; ++k) expected[2 * i + l] += b[4 * i + 2 * j + k] * c[2 * j + l] * d[2 * k + l];
      }
    }
  }
  const int64_t matrix[] = {2, 1}, cube[] = {4, 2, 1};
  leaves.run(0, {}, {{a.data(), matrix}, {c.data(), matrix}, {b.data(), cube}, {d.data(), matrix}});
  EXPECT_EQ(a, expected);
}

TEST(Leaves, RefuseUnknownLoops) {
  try {
    Leaves(kGemm, {}, "double", {{"io", "jo"}});
    FAIL() << "it was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "the program has no loop jo");
  }
}

TEST(Leaves, RefuseUnknownTypes) {
  try {
    Leaves(kGemm, {}, "half", {{}});
    FAIL() << "it was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "there is no element type half");
  }
}

}  // namespace
}  // namespace distal
