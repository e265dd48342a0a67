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

// Prints the reason on stderr and ends all ranks. A rank that failed alone would leave the others waiting.
[[noreturn]] void end_job(const Cluster& cluster, const std::exception_ptr& why);

// How long to pause between two polls of the segments in flight while leaves compute. It polls several times per
// segment, so that the system's network buffers neither overflow nor run dry, but not more often, as each poll takes
// time from the leaves.
class PollInterval {
 public:
  using Clock = std::chrono::steady_clock;

  void begin(Clock::time_point now) { last_ = now; }  // when segments are in flight again
  void ended(int segments, Clock::time_point now);    // this many segments were found complete
  Clock::duration pause(Clock::time_point now) const;

 private:
  Clock::time_point last_;
  Clock::duration between_{0};
};

// Flow control within a lane: how many segments each message may have in flight. Ask for the messages one after the
// other, the oldest first.
// - Messages that both ends are ready for ("agreed") share the window, the older ones first. What younger messages have
//   in flight does not count against them, so the oldest message that both ends know always gets on.
// - A message that is not agreed yet may have its first segment in flight: one end may be ready for it while the other
//   still waits for an older message. The oldest of all may use the whole window without waiting for the agreement.
// - A posted receive cannot be taken back. As long as an older message may still come, because its sender has to get it
//   first, a younger one is received one segment at a time.
class WindowShares {
 public:
  WindowShares(size_t window, bool sends) : window_(window), sends_(sends) {}

  size_t most(bool agreed) const;           // how many segments the next message may have in flight
  void has(bool agreed, size_t in_flight);  // how many it has

 private:
  size_t window_, used_ = 0;
  bool sends_, oldest_ = true, older_may_come_ = false;
};

// Messages between ranks. Large messages advance only while MPI is called, so a thread of the transport starts messages
// and drives them while leaves compute. It sleeps while there are none. During a run, only this thread and barrier()
// call MPI.
//
// A message is sent in segments. Its first segment is small and tells each end that the other is ready. Of the messages
// between two ranks, the oldest that both are ready for gets the link, a few segments at a time; the next one starts
// when the first has no more segments to start. If whole messages went in parallel, they would share the link and end
// at the same time, and the link would be idle while the ends agree on the next ones.
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
  void barrier() override;
  void fail(const std::exception_ptr& why) override { end_job(cluster_, why); }
  void set_computing(bool computing) override {
    if ((computing_ += computing ? 1 : -1) > 0) return;
    std::lock_guard lock(mutex_);  // so that the thread cannot miss this between its check and its sleep
    more_.notify_one();
  }

 private:
  struct Posted {
    Message message;
    bool is_send;
    Done done;
  };
  struct MessageInFlight {
    Posted posted;
    std::vector<Segment> segments;
    size_t started = 0, ended = 0;  // numbers of segments
    int64_t bytes = 0;              // received
    bool agreed = false;            // both ends are ready for it

    size_t in_flight() const { return started - ended; }
  };
  // The messages to one rank, or from one rank, by message number.
  using Lane = std::map<int64_t, MessageInFlight>;
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
  void start_segment(Lane& lane, MessageInFlight& message);
  bool finish_some();
  void pause(int idle_rounds);

  const Cluster& cluster_;
  std::vector<int> ranks_;  // by processor
  int64_t element_bytes_;
  int most_tags_;
  std::map<std::pair<int, int>, int64_t> numbers_;  // by source and destination rank: the next message's number
  std::atomic<int> computing_{0};                   // the number of leaves that run

  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<Posted> posted_;  // not yet started; guarded by the mutex
  bool stopping_ = false;
  // Used by the thread only.
  std::map<std::pair<bool, int>, Lane> lanes_;  // by direction (true: sends) and the other rank
  std::vector<MPI_Request> requests_;           // one per segment in flight
  std::vector<Running> running_;                // by request
  PollInterval poll_interval_;
  std::thread thread_;
};

// Waits for a request. Yields or sleeps between polls, so that other threads can use the core.
void wait_patiently(MPI_Request& request);

}  // namespace distal::core
