// A kernel keeps its engine for later runs. These tests change something between two runs.

#include <distal/distal.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "api/summa.h"

namespace distal {
namespace {

// Square matrices with data.
struct Product : Summa {
  Product() {
    set_size(6);
    chunk = 2;
    fill(B, 1);
    fill(C, 2);
  }

  void set_size(int64_t n) { ni = nj = nk = n; }
  void expect_right() const { expect_product(A, B, C); }
};

void expect_same(const RunReport& a, const RunReport& b) {
  EXPECT_EQ(a.bytes_moved, b.bytes_moved);
  EXPECT_EQ(a.bytes_copied, b.bytes_copied);
  EXPECT_EQ(a.messages, b.messages);
  EXPECT_EQ(a.peak_bytes_per_processor, b.peak_bytes_per_processor);
}

class Rerun : public testing::TestWithParam<RunOptions> {};
INSTANTIATE_TEST_SUITE_P(Options, Rerun,
                         testing::Values(RunOptions{1, false}, RunOptions{1, true}, RunOptions{3, false},
                                         RunOptions{3, true}, RunOptions{3, false, true}));

TEST_P(Rerun, OnNewData) {
  Product p;
  Kernel kernel = p.A.compile();
  RunReport first = kernel.run(GetParam());
  int64_t pieces = 3 * 3 * 3 * 8;  // of 6 x 6 matrices on a 2 x 2 grid
  EXPECT_GE(first.peak_bytes_per_processor, pieces);
  EXPECT_LE(first.peak_bytes_per_processor, kernel.cost().peak_bytes_per_processor);
  if (GetParam().own_memory) EXPECT_EQ(first.peak_bytes_per_processor, kernel.cost().peak_bytes_per_processor);
  EXPECT_GT(first.resident_bytes, first.peak_bytes_per_processor);
  p.expect_right();
  for (int i = 0; i < 5; ++i) {
    fill(p.B, i);
    expect_same(kernel.run(GetParam()), first);
    p.expect_right();
  }
}

TEST_P(Rerun, OnOtherBuffers) {
  Product p;
  p.gx = 1;
  p.gy = 1;
  Kernel kernel = p.A.compile();
  RunReport first = kernel.run(GetParam());
  std::vector<double> b(36), a(6 * 8, -7);
  for (int round = 0; round < 3; ++round) {
    std::vector<double> other(36);
    for (size_t i = 0; i < 36; ++i) other[i] = static_cast<double>(i % 5) + round;
    p.B.bind(0, other.data());
    fill(p.C, round);
    expect_same(kernel.run(GetParam()), first);
    p.expect_right();
    p.B.bind(0, b.data());
  }
  p.A.bind(0, a.data(), {8, 1});  // with gaps
  fill(p.B, 3);
  for (int i = 0; i < 3; ++i) kernel.run(GetParam());
  p.expect_right();
  EXPECT_EQ(a[8], p.A.at({1, 0}));
  EXPECT_EQ(a[7], -7) << "the gap between rows is the caller's";
}

TEST_P(Rerun, WithOtherParams) {
  Product p;
  Kernel kernel = p.A.compile();
  for (int64_t size : {6, 4, 9, 6}) {
    for (int64_t grid : {1, 2, 3}) {
      p.set_size(size);
      p.gx = grid;
      fill(p.B, static_cast<double>(size));
      fill(p.C, static_cast<double>(grid));
      RunReport first = kernel.run(GetParam());
      p.expect_right();
      expect_same(kernel.run(GetParam()), first);
      p.expect_right();
      EXPECT_EQ(first.bytes_moved, kernel.cost().bytes_moved);
    }
  }
}

TEST_P(Rerun, WithOtherOptions) {
  Product p;
  Kernel kernel = p.A.compile();
  RunReport first = kernel.run(GetParam());
  for (int i = 0; i < 3; ++i) {
    kernel.run({2, i % 2 == 0});
    p.expect_right();
    expect_same(kernel.run(GetParam()), first);
    p.expect_right();
  }
}

// The sum is long enough for threads to share. Its addends have very different sizes: their order changes the result.
TEST(StrictOrder, IsThatOfTheLoopsOnAnyNumberOfThreads) {
  constexpr int64_t n = 100000;
  Tensor<double> a, b({n}), c({n});
  IndexVar i;
  a() = b(i) * c(i);
  auto addend = [](int64_t x) { return x % 7 == 0 ? 1e10 / static_cast<double>(x + 1) : 0.1; };
  b.fill([&](const std::vector<int64_t>& at) { return addend(at[0]); });
  c.fill([](const std::vector<int64_t>&) { return 1.0; });
  double want = 0;
  for (int64_t x = 0; x < n; ++x) want += addend(x);
  Kernel kernel = a.compile();
  for (int threads : {1, 2, 5}) {
    kernel.run({.threads = threads});
    EXPECT_NEAR(a.at({}), want, 1e-9 * want);
    kernel.run({.threads = threads, .strict_order = true});
    EXPECT_EQ(a.at({}), want) << threads << " threads";
  }
}

TEST_P(Rerun, AfterARedistribution) {
  Product p;
  Kernel kernel = p.A.compile();
  for (int i = 0; i < 3; ++i) {
    for (const Distribution& d :
         {Distribution(p.m, {1, 0}), Distribution(p.m, {0, Face{1}}), Distribution(p.m, {0, 1})}) {
      p.B.redistribute(Format({Dense, Dense}, d), GetParam());
      RunReport first = kernel.run(GetParam());
      p.expect_right();
      fill(p.B, i);
      expect_same(kernel.run(GetParam()), first);
      p.expect_right();
    }
  }
}

TEST_P(Rerun, AfterAParamThatIsRefused) {
  Product p;
  Kernel kernel = p.A.compile();
  kernel.run(GetParam());
  p.gx = 0;
  EXPECT_THROW(kernel.run(GetParam()), Error);
  p.gx = 2;
  fill(p.B, 4);
  fill(p.C, 5);
  kernel.run(GetParam());
  p.expect_right();
}

// Every run writes A, so the threads take turns.
TEST_P(Rerun, FromSeveralThreads) {
  Product p;
  Kernel kernel = p.A.compile();
  RunReport first = kernel.run(GetParam());
  std::mutex one_writer;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, copy = kernel] {
      for (int i = 0; i < 20; ++i) {
        std::lock_guard lock(one_writer);
        expect_same(copy.run(GetParam()), first);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  p.expect_right();
}

}  // namespace
}  // namespace distal
