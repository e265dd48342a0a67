#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/mpi/cluster.h"
#include "engine/mpi/datatype.h"
#include "engine/transport.h"

namespace distal::core {

// Says why on stderr, and ends all ranks: one that fails alone would leave the others waiting.
[[noreturn]] void end_job(const Cluster& cluster, const std::exception_ptr& why);

// How often it is worth looking whether a segment has come or gone: several times for each, so that the buffers of the
// system neither run full nor empty meanwhile, and not more often, as it takes time from those that compute.
class Rhythm {
 public:
  using Clock = std::chrono::steady_clock;

  void begin(Clock::time_point now) { last_ = now; }  // after nothing was on its way
  void ended(int segments, Clock::time_point now);
  Clock::duration pause(Clock::time_point now) const;

 private:
  Clock::time_point last_;
  Clock::duration between_{0};
};

// How many segments the messages of a lane may have on their way, asked for one after the other, the oldest first.
// Those that both ends are ready for share a window, without regard to what younger ones have on their way: sooner or
// later both ends know the same oldest one, and it gets on. One that is not agreed on yet has its first segment on its
// way, as one end may be ready for it while the other still waits for its forerunner; the oldest one of all does not
// wait for the answer. What was asked for cannot be taken back: as long as an older one may still come, because its
// sender first has to get it itself, a younger one is received one segment at a time.
class WindowShares {
 public:
  WindowShares(size_t window, bool sends) : window_(window), sends_(sends) {}

  size_t most(bool agreed) const;
  void has(bool agreed, size_t on_their_way);

 private:
  size_t window_, used_ = 0;
  bool sends_, oldest_ = true, older_may_come_ = false;
};

// Messages between ranks. A thread of its own starts them, drives them on while others compute, and sleeps while there
// are none: MPI needs to be called for large messages to get on. It alone calls MPI while a plan is carried out.
//
// A message goes in segments, and its first one, which is small, tells the ends that both are ready for it. Of the
// messages between two ranks the oldest that both are ready for has the link, a few segments at a time, and the next
// one begins where it has no more to start. Whole messages side by side would share the link and end at the same time,
// and nothing would travel while the ends agree on the next ones.
class MpiTransport : public Transport {
 public:
  MpiTransport(const Cluster& cluster, std::vector<int> ranks, int64_t element_bytes);
  ~MpiTransport() override;

  bool is_here(int64_t processor) const override { return rank_of(processor) == cluster_.rank(); }
  int64_t next_number(int64_t source, int64_t destination) override {
    return numbers_[{rank_of(source), rank_of(destination)}]++;
  }
  void send(const Message& message, Done done) override { post({message, true, std::move(done)}); }
  void receive(const Message& message, Done done) override { post({message, false, std::move(done)}); }
  void meet() override;
  void fail(const std::exception_ptr& why) override { end_job(cluster_, why); }
  void computes(bool now) override {
    if ((computing_ += now ? 1 : -1) > 0) return;
    std::lock_guard lock(mutex_);  // not between its look at this and its sleep
    more_.notify_one();
  }

 private:
  struct Posted {
    Message message;
    bool is_send;
    Done done;
  };
  // A message on its way.
  struct Travelling {
    Posted posted;
    std::vector<Segment> segments;
    size_t started = 0, ended = 0;  // of the segments
    int64_t bytes = 0;              // that have come
    bool agreed = false;            // both ends are ready

    size_t on_their_way() const { return started - ended; }
  };
  // Those to one rank, or from one, by their numbers.
  using Lane = std::map<int64_t, Travelling>;
  struct Running {
    Datatype type;
    Lane* lane;
    int64_t number;
    bool first;  // of its message
  };
  int rank_of(int64_t processor) const { return ranks_[static_cast<size_t>(processor)]; }
  void post(Posted posted);
  void work();
  int other_end(const Posted& posted) const;
  void start_posted();
  size_t window_of(bool sends) const;
  void fill(Lane& lane);
  void start_segment(Lane& lane, Travelling& message);
  bool finish_some();
  void pause(int idle_rounds);

  const Cluster& cluster_;
  std::vector<int> ranks_;  // by processor
  int64_t element_bytes_;
  int most_tags_;
  std::map<std::pair<int, int>, int64_t> numbers_;  // by pair of ranks: the next message's
  std::atomic<int> computing_{0};                   // leaves

  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<Posted> posted_;  // not yet started; guarded by the mutex
  bool stopping_ = false;
  // Of the thread alone.
  std::map<std::pair<bool, int>, Lane> lanes_;  // by whether they send, and the other rank
  std::vector<MPI_Request> requests_;           // of segments
  std::vector<Running> running_;                // by request
  Rhythm rhythm_;
  std::thread thread_;
};

// Waits for a request without taking the core from others that compute.
void wait_patiently(MPI_Request& request);

}  // namespace distal::core
