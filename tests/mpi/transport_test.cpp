// Messages whose ends are ready in different orders: whichever both are ready for gets through, whatever else waits.

#include "engine/mpi/transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <future>
#include <numeric>
#include <random>

namespace distal::core {

namespace {

// How an end posts its messages: all at once, or each when the one before it is over.
enum class Posts { AtOnce, OneByOne };

// Of many messages from the first rank to the second, what one of the two does.
class End {
 public:
  End(const Cluster& cluster, const std::vector<int64_t>& sizes)
      : sends_(cluster.rank() == 0), transport_(cluster, {0, 1}, sizeof(int64_t)) {
    for (int64_t size : sizes) data_.emplace_back(static_cast<size_t>(size));
    if (sends_) {
      for (size_t m = 0; m < data_.size(); ++m) std::iota(data_[m].begin(), data_[m].end(), first_value(m));
    }
  }

  void carry_out(Posts posts, const std::vector<size_t>& order) {
    std::vector<std::future<int64_t>> over;
    for (size_t m : order) {
      over.push_back(post(m));
      if (posts == Posts::OneByOne) over.back().wait();
    }
    for (size_t i = 0; i < order.size(); ++i) {
      auto bytes = static_cast<int64_t>(data_[order[i]].size() * sizeof(int64_t));
      EXPECT_EQ(over[i].get(), sends_ ? 0 : bytes);
    }
  }

  void expect_all() const {
    for (size_t m = 0; m < data_.size(); ++m) {
      std::vector<int64_t> want(data_[m].size());
      std::iota(want.begin(), want.end(), first_value(m));
      EXPECT_EQ(data_[m], want) << "message " << m;
    }
  }

 private:
  static int64_t first_value(size_t message) { return 1 + static_cast<int64_t>(message) * 10'000'000; }

  std::future<int64_t> post(size_t m) {
    Rect all{{0}, {static_cast<int64_t>(data_[m].size())}};
    View view = dense_view(reinterpret_cast<std::byte*>(data_[m].data()), all, {0});
    Message message{0, 1, static_cast<int64_t>(m), {{view, all}}};
    auto over = std::make_shared<std::promise<int64_t>>();
    auto done = [over](int64_t bytes) { over->set_value(bytes); };
    sends_ ? transport_.send(message, done) : transport_.receive(message, done);
    return over->get_future();
  }

  bool sends_;
  std::vector<std::vector<int64_t>> data_;
  MpiTransport transport_;
};

std::vector<size_t> shuffled(size_t count, std::mt19937& random) {
  std::vector<size_t> out(count);
  std::iota(out.begin(), out.end(), 0);
  std::shuffle(out.begin(), out.end(), random);
  return out;
}

// From one element to several windows of segments, and what is just one segment, and just more.
std::vector<int64_t> some_sizes() { return {1, 2'000'000, 512, 4096, 4097, 1'500'000, 700'000, 131'072, 3, 3'000'000}; }

class Orders : public testing::TestWithParam<std::pair<Posts, Posts>> {};

TEST_P(Orders, AllComeThrough) {
  Cluster cluster(MPI_COMM_WORLD, false);
  std::vector<int64_t> sizes = some_sizes();
  for (unsigned seed = 0; seed < 5; ++seed) {
    End end(cluster, sizes);
    std::mt19937 random(seed);
    std::vector<size_t> first = shuffled(sizes.size(), random), second = shuffled(sizes.size(), random);
    // Where both go one by one they agree on the order.
    bool same = GetParam().first == Posts::OneByOne && GetParam().second == Posts::OneByOne;
    cluster.rank() == 0 ? end.carry_out(GetParam().first, first)
                        : end.carry_out(GetParam().second, same ? first : second);
    end.expect_all();
  }
}

INSTANTIATE_TEST_SUITE_P(Messages, Orders,
                         testing::Values(std::pair{Posts::AtOnce, Posts::AtOnce},
                                         std::pair{Posts::AtOnce, Posts::OneByOne},
                                         std::pair{Posts::OneByOne, Posts::AtOnce},
                                         std::pair{Posts::OneByOne, Posts::OneByOne}));

// Both ends have many younger messages under way when the oldest is ready at last.
TEST(Messages, OldOnesThatComeLateGetThrough) {
  Cluster cluster(MPI_COMM_WORLD, false);
  std::vector<int64_t> sizes(12, 1'000'000);
  End end(cluster, sizes);
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + (cluster.rank() == 0 ? 4 : 6), order.end());
  end.carry_out(Posts::AtOnce, order);
  end.expect_all();
}

TEST(Rhythm, LooksSeveralTimesForEachSegment) {
  using std::chrono::milliseconds, std::chrono::microseconds;
  Rhythm rhythm;
  Rhythm::Clock::time_point now;
  rhythm.begin(now);
  EXPECT_EQ(rhythm.pause(now), microseconds(100));
  EXPECT_EQ(rhythm.pause(now + milliseconds(16)), milliseconds(2));
  EXPECT_EQ(rhythm.pause(now + milliseconds(500)), milliseconds(4));
  for (int i = 0; i < 100; ++i) rhythm.ended(2, now += milliseconds(16));
  EXPECT_NEAR(std::chrono::duration<double>(rhythm.pause(now)).count(), 1e-3, 1e-6);  // each takes 8 ms
  for (int i = 0; i < 100; ++i) rhythm.ended(1, now += microseconds(10));
  EXPECT_EQ(rhythm.pause(now), microseconds(100));
}

}  // namespace

}  // namespace distal::core

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  testing::InitGoogleTest(&argc, argv);
  int status = RUN_ALL_TESTS();
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);  // the other rank may wait for this one
  MPI_Finalize();
  return status;
}
