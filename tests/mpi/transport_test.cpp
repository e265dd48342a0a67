// Messages between all pairs of ranks, posted in different orders by sender and receiver. A message that both ends have
// posted gets through, whatever other messages wait.

#include "engine/mpi/transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <numeric>
#include <random>

namespace distal::core {

namespace {

// How messages are posted: all at once, or each after the previous one has completed.
enum class PostOrder { AtOnce, OneByOne };

// In elements: from a token (-1) to several windows of segments; also just one segment, and one element more.
const std::vector<int64_t> kSizes{1, 0, 800'000, 512, 4096, 4097, 600'000, -1, 131'072, 3, 1'000'000};
constexpr int64_t kToken = -1;

int64_t value_of(int source, int destination, size_t message, int64_t at) {
  return (int64_t{source} * 7 + destination) * 1'000'000'000 + static_cast<int64_t>(message) * 10'000'000 + at;
}

// All messages between this rank and another one, in one direction. Their elements are in two parts with a gap.
class Bundle {
 public:
  Bundle(int source, int destination, bool sends, MpiTransport& transport)
      : source_(source), destination_(destination), sends_(sends), transport_(transport) {
    for (size_t m = 0; m < kSizes.size(); ++m) {
      int64_t count = std::max<int64_t>(0, kSizes[m]);
      data_.emplace_back(static_cast<size_t>(count + kGap), 0);
      for (int64_t at = 0; sends && at < count; ++at) data_[m][place(m, at)] = value_of(source, destination, m, at);
    }
  }

  std::future<int64_t> post(size_t m) {
    Message message{source_, destination_, static_cast<int64_t>(m), {}};
    int64_t count = kSizes[m], half = count / 2;
    if (count != kToken) {
      auto* memory = reinterpret_cast<std::byte*>(data_[m].data());
      message.parts.push_back({{memory, 0, {1}}, {{0}, {half}}});
      message.parts.push_back({{memory, kGap, {1}}, {{half}, {count}}});
    }
    auto completed = std::make_shared<std::promise<int64_t>>();
    auto done = [completed](int64_t bytes) { completed->set_value(bytes); };
    sends_ ? transport_.send(message, done) : transport_.receive(message, done);
    return completed->get_future();
  }

  void expect(size_t m, int64_t bytes) const {
    int64_t count = std::max<int64_t>(0, kSizes[m]);
    EXPECT_EQ(bytes, sends_ ? 0 : count * static_cast<int64_t>(sizeof(int64_t)));
    for (int64_t at = 0; at < count; ++at) {
      ASSERT_EQ(data_[m][place(m, at)], value_of(source_, destination_, m, at)) << "message " << m << " at " << at;
    }
  }

 private:
  static constexpr int64_t kGap = 3;
  static size_t place(size_t m, int64_t at) { return static_cast<size_t>(at < kSizes[m] / 2 ? at : at + kGap); }

  int source_, destination_;
  bool sends_;
  MpiTransport& transport_;
  std::vector<std::vector<int64_t>> data_;
};

// All messages that this rank sends to the others, or all that it receives from them.
class RankMessages {
 public:
  RankMessages(const Cluster& cluster, bool sends, MpiTransport& transport) {
    for (int other = 0; other < cluster.ranks(); ++other) {
      if (other == cluster.rank()) continue;
      int source = sends ? cluster.rank() : other, destination = sends ? other : cluster.rank();
      bundles_.emplace_back(source, destination, sends, transport);
    }
  }

  void carry_out(PostOrder post_order, unsigned seed) {
    std::vector<std::pair<size_t, size_t>> order;  // of bundles, and messages in them
    for (size_t b = 0; b < bundles_.size(); ++b) {
      for (size_t m = 0; m < kSizes.size(); ++m) order.emplace_back(b, m);
    }
    std::mt19937 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::future<int64_t>> completed;
    for (auto [b, m] : order) {
      completed.push_back(bundles_[b].post(m));
      if (post_order == PostOrder::OneByOne) completed.back().wait();
    }
    for (size_t i = 0; i < order.size(); ++i) bundles_[order[i].first].expect(order[i].second, completed[i].get());
  }

 private:
  std::vector<Bundle> bundles_;
};

class Orders : public testing::TestWithParam<std::pair<PostOrder, PostOrder>> {};

// Half of the rounds run as if leaves computed, when the transport polls less often.
TEST_P(Orders, AllAreDelivered) {
  Cluster cluster(MPI_COMM_WORLD, false);
  std::vector<int> ranks(static_cast<size_t>(cluster.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  MpiTransport transport(cluster, ranks, sizeof(int64_t));
  for (unsigned seed = 0; seed < 4; ++seed) {
    bool computes = seed % 2 == 1;
    if (computes) transport.set_computing(true);
    RankMessages out(cluster, true, transport), in(cluster, false, transport);
    unsigned own = 100 * seed + static_cast<unsigned>(cluster.rank());
    std::thread sender([&] { out.carry_out(GetParam().first, own); });
    in.carry_out(GetParam().second, own + 50);
    sender.join();
    if (computes) transport.set_computing(false);
  }
}

INSTANTIATE_TEST_SUITE_P(Messages, Orders,
                         testing::Values(std::pair{PostOrder::AtOnce, PostOrder::AtOnce},
                                         std::pair{PostOrder::AtOnce, PostOrder::OneByOne},
                                         std::pair{PostOrder::OneByOne, PostOrder::AtOnce}));

// Flow control: a rank sends only few messages that the receiver has not posted yet.
TEST(SmallMessages, DoNotPileUp) {
  constexpr int64_t kMessages = 500, kElements = 100, kMost = 200;
  Cluster cluster(MPI_COMM_WORLD, false);
  std::vector<int> ranks(static_cast<size_t>(cluster.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  MpiTransport transport(cluster, ranks, sizeof(int64_t));
  if (cluster.rank() > 1) return;
  bool sends = cluster.rank() == 0;
  std::vector<int64_t> data(kMessages * kElements, -1);
  if (sends) std::iota(data.begin(), data.end(), 0);
  std::atomic<int64_t> completed{0}, completed_at_token{0};
  std::promise<void> all, token_done, end_done;
  auto count = [&](int64_t) {
    if (++completed == kMessages) all.set_value();
  };
  auto on_token = [&](int64_t) {
    completed_at_token = completed.load();
    token_done.set_value();
  };
  auto post = [&](int64_t m) {
    auto* memory = reinterpret_cast<std::byte*>(data.data() + m * kElements);
    Message message{0, 1, m, {{{memory, 0, {1}}, {{0}, {kElements}}}}};
    sends ? transport.send(message, count) : transport.receive(message, count);
  };
  const Message token{1, 0, 0, {}}, end{0, 1, kMessages, {}};
  auto on_end = [&](int64_t) { end_done.set_value(); };
  if (sends) {
    transport.receive(token, on_token);
  } else {
    transport.receive(end, on_end);                               // makes the transport poll
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // time for rank 0 to send
    transport.send(token, on_token);
  }
  for (int64_t m = 0; m < kMessages; ++m) post(m);
  if (sends) transport.send(end, on_end);
  for (std::promise<void>* p : {&token_done, &all, &end_done}) p->get_future().wait();
  EXPECT_LE(completed_at_token, sends ? kMost : kMessages);
  for (size_t at = 0; at < data.size(); ++at) ASSERT_EQ(data[at], static_cast<int64_t>(at));
}

TEST(WindowShares, TheOldestAgreedMessageHasTheLink) {
  WindowShares shares(4, false);
  EXPECT_EQ(shares.most(true), 4U);
  shares.has(true, 3);
  EXPECT_EQ(shares.most(true), 1U);
  EXPECT_EQ(shares.most(false), 1U);  // not agreed on: only its first segment
  shares.has(true, 2);                // segments that are still in flight
  EXPECT_EQ(shares.most(true), 0U);
}

TEST(WindowShares, ReceivesOneSegmentAtATimeWhileAnOlderMessageMayCome) {
  WindowShares shares(4, false);
  EXPECT_EQ(shares.most(false), 4U);  // the oldest message needs no agreement
  shares.has(false, 4);
  EXPECT_EQ(shares.most(true), 1U);
  shares.has(true, 1);
  EXPECT_EQ(shares.most(true), 1U);
  EXPECT_EQ(shares.most(false), 1U);
}

TEST(WindowShares, SendsAreOfferedWithTheWholeWindow) {
  WindowShares shares(8, true);
  EXPECT_EQ(shares.most(false), 8U);
  shares.has(false, 8);
  EXPECT_EQ(shares.most(true), 8U);
  shares.has(true, 5);
  EXPECT_EQ(shares.most(true), 3U);
}

TEST(PollInterval, PollsSeveralTimesPerSegment) {
  using std::chrono::milliseconds, std::chrono::microseconds;
  PollInterval interval;
  PollInterval::Clock::time_point now;
  interval.begin(now);
  EXPECT_EQ(interval.pause(now), microseconds(100));
  EXPECT_EQ(interval.pause(now + milliseconds(16)), milliseconds(2));
  EXPECT_EQ(interval.pause(now + milliseconds(500)), milliseconds(4));
  for (int i = 0; i < 100; ++i) interval.ended(2, now += milliseconds(16));
  EXPECT_NEAR(std::chrono::duration<double>(interval.pause(now)).count(), 1e-3, 1e-6);  // each takes 8 ms
  for (int i = 0; i < 100; ++i) interval.ended(1, now += microseconds(10));
  EXPECT_EQ(interval.pause(now), microseconds(100));
}

TEST(PollInterval, ForgetsALongWaitSoon) {
  PollInterval interval;
  PollInterval::Clock::time_point now;
  interval.begin(now);
  interval.ended(1, now += std::chrono::hours(1));
  for (int i = 0; i < 12; ++i) interval.ended(1, now += std::chrono::microseconds(10));
  EXPECT_LT(interval.pause(now), std::chrono::microseconds(200));
}

}  // namespace

}  // namespace distal::core

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  testing::InitGoogleTest(&argc, argv);
  int status = RUN_ALL_TESTS();
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);  // other ranks may wait for this one
  MPI_Finalize();
  return status;
}
