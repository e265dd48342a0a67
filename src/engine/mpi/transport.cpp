#include "engine/mpi/transport.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <set>

#include "support/error.h"

namespace distal::core {

namespace {

constexpr int kLeastTags = 32767;  // the MPI standard guarantees this many
// Flow control, in segments. A rank posts up to kReceiveWindow receives, divided among the ranks that send to it, and
// at least kMinReceiveWindow for each, so that the next segment is agreed on while one travels. The send window is
// larger, so that every posted receive finds its segment sent.
constexpr size_t kReceiveWindow = 4, kMinReceiveWindow = 2, kSendWindow = 8;
// A message of one segment is sent without an acknowledgement and may wait at the receiver in MPI's buffers. Every
// kAcknowledgeEvery-th is acknowledged, and a sender stays fewer than kMaxUnacknowledged messages ahead of its oldest
// one in flight. Otherwise a rank that only sends would fill the memory of ranks that compute.
constexpr int64_t kAcknowledgeEvery = 16, kMaxUnacknowledged = 64;

// Each poll takes a core from the leaves for a moment, and evicts a part of its caches.
constexpr std::chrono::microseconds kShortestPause{100}, kLongestPause{4000};
constexpr int kPollsPerSegment = 8;

constexpr unsigned kSecondsToEnd = 5;

int tags_of(MPI_Comm communicator) {
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(communicator, MPI_TAG_UB, &value, &found);
  return found ? *static_cast<int*>(value) : kLeastTags;
}

void sleep_for(int microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }

// Asks Linux for short time slices. This thread shares the cores with leaves; it needs little time but needs it soon,
// and a thread with short slices gets a core earlier. Older kernels ignore the request.
void request_short_slices() {
  struct {
    uint32_t size = 48;  // of the first version of this structure
    uint32_t policy = SCHED_OTHER;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 100'000;  // the slice in nanoseconds
    uint64_t deadline = 0, period = 0;
  } attributes;
  attributes.nice = getpriority(PRIO_PROCESS, 0);
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

// Yields in the first rounds, then sleeps for longer and longer intervals, so that other threads get the core.
void back_off(int rounds, int most_microseconds) {
  if (rounds < 20) {
    sched_yield();
  } else {
    sleep_for(std::min(most_microseconds, 5 << std::min(10, rounds - 20)));
  }
}

}  // namespace

void PollInterval::ended(int segments, Clock::time_point now) {
  // Limited: a pause of the senders says nothing about the speed of the link.
  Clock::duration since = std::min<Clock::duration>(now - last_, kPollsPerSegment * kLongestPause);
  between_ = (3 * between_ + since / segments) / 4;
  last_ = now;
}

PollInterval::Clock::duration PollInterval::pause(Clock::time_point now) const {
  Clock::duration between = std::max(between_, now - last_);
  return std::clamp<Clock::duration>(between / kPollsPerSegment, kShortestPause, kLongestPause);
}

size_t WindowShares::most(bool agreed) const {
  size_t share = agreed ? window_ - std::min(window_, used_) : oldest_ ? window_ : 1;
  return older_may_come_ ? std::min<size_t>(share, 1) : share;
}

void WindowShares::has(bool agreed, size_t on_their_way) {
  oldest_ = false;
  if (agreed) used_ += on_their_way;
  older_may_come_ = older_may_come_ || (!sends_ && !agreed);
}

void end_job(const Cluster& cluster, const std::exception_ptr& why) {
  // MPI_Abort may hang if another thread is inside MPI. The alarm then kills this process, and MPI ends the job.
  std::signal(SIGALRM, SIG_DFL);
  alarm(kSecondsToEnd);
  auto [text, status] = failure_of(why);
  fmt::print(stderr, "rank {}: {}\n", cluster.rank(), text);
  std::fflush(stderr);
  MPI_Abort(cluster.all(), status);
  std::abort();
}

void wait_patiently(MPI_Request& request) {
  int done = 0;
  for (int rounds = 0;; ++rounds) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    back_off(rounds, 100);
  }
}

MpiTransport::MpiTransport(const Cluster& cluster, std::vector<int> ranks, int64_t element_bytes)
    : cluster_(cluster),
      ranks_(std::move(ranks)),
      element_bytes_(element_bytes),
      most_tags_(tags_of(cluster.all())),
      thread_([this] {
        try {
          work();
        } catch (...) {
          fail(std::current_exception());
        }
      }) {}

MpiTransport::~MpiTransport() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  more_.notify_one();
  thread_.join();
}

// No message is in flight, so this thread may call MPI.
void MpiTransport::barrier() {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // makes this rank's writes to shared memory visible
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(cluster_.node(), &request);
  wait_patiently(request);
}

void MpiTransport::post(Posted posted) {
  {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(posted));
  }
  more_.notify_one();
}

void MpiTransport::work() {
  request_short_slices();
  for (int idle = 0;;) {
    {
      std::unique_lock lock(mutex_);
      if (running_.empty()) {
        more_.wait(lock, [&] { return stopping_ || !posted_.empty(); });
        if (posted_.empty()) return;
        poll_interval_.begin(PollInterval::Clock::now());
      }
    }
    start_posted();
    idle = finish_some() ? 0 : idle + 1;
    if (idle > 0 && !running_.empty()) pause(idle);
  }
}

int MpiTransport::other_end(const Posted& posted) const {
  return rank_of(posted.is_send ? posted.message.destination : posted.message.source);
}

void MpiTransport::start_posted() {
  std::vector<Posted> fresh;
  {
    std::lock_guard lock(mutex_);
    fresh.swap(posted_);
  }
  std::set<Lane*> lanes;
  for (Posted& p : fresh) {
    Lane& lane = lanes_[{p.is_send, other_end(p)}];
    int64_t number = p.message.number;
    std::vector<Segment> segments = segments_of(p.message, element_bytes_);
    lane.emplace(number, MessageInFlight{std::move(p), std::move(segments)});
    lanes.insert(&lane);
  }
  for (Lane* lane : lanes) fill(*lane);
}

// How many segments of a lane may be in flight.
size_t MpiTransport::window_of(bool sends) const {
  if (sends) return kSendWindow;
  auto senders =
      std::count_if(lanes_.begin(), lanes_.end(), [](const auto& l) { return !l.first.first && !l.second.empty(); });
  return std::max(kMinReceiveWindow, kReceiveWindow / static_cast<size_t>(senders));
}

void MpiTransport::fill(Lane& lane) {
  if (lane.empty()) return;
  bool sends = lane.begin()->second.posted.is_send;
  WindowShares shares(window_of(sends), sends);
  for (auto& [number, message] : lane) {
    if (sends && number >= lane.begin()->first + kMaxUnacknowledged) return;
    size_t most = shares.most(message.agreed);
    while (message.started < message.segments.size() && message.in_flight() < most) start_segment(lane, message);
    shares.has(message.agreed, message.in_flight());
  }
}

void MpiTransport::start_segment(Lane& lane, MessageInFlight& message) {
  Datatype type(message.segments[message.started++], element_bytes_);
  int64_t number = message.posted.message.number;
  int tag = static_cast<int>(number % most_tags_);  // unique: far fewer messages are in flight at once
  int other = other_end(message.posted);
  MPI_Request request = MPI_REQUEST_NULL;
  bool first = message.started == 1;
  if (message.posted.is_send) {
    // A synchronous send completes when the other end is ready: the first segment of several acknowledges the message.
    bool acknowledged = first && (message.segments.size() > 1 || number % kAcknowledgeEvery == 0);
    auto* send = acknowledged ? MPI_Issend : MPI_Isend;
    send(MPI_BOTTOM, 1, type.get(), other, tag, cluster_.all(), &request);
  } else {
    MPI_Irecv(MPI_BOTTOM, 1, type.get(), other, tag, cluster_.all(), &request);
  }
  requests_.push_back(request);
  running_.push_back({std::move(type), &lane, number, first});
}

bool MpiTransport::finish_some() {
  int count = 0;
  std::vector<int> which(requests_.size());
  std::vector<MPI_Status> statuses(requests_.size());
  MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, which.data(), statuses.data());
  if (count == MPI_UNDEFINED || count == 0) return false;
  poll_interval_.ended(count, PollInterval::Clock::now());
  std::set<Lane*> lanes;
  std::vector<std::pair<Done, int64_t>> done;
  for (int i = 0; i < count; ++i) {
    Running& segment = running_[static_cast<size_t>(which[static_cast<size_t>(i)])];
    MessageInFlight& message = segment.lane->at(segment.number);
    MPI_Count bytes = 0;
    if (!message.posted.is_send) {
      MPI_Get_elements_x(&statuses[static_cast<size_t>(i)], segment.type.get(), &bytes);
    }
    message.bytes += bytes;
    message.agreed = message.agreed || segment.first;
    lanes.insert(segment.lane);
    if (++message.ended < message.segments.size()) continue;
    done.emplace_back(std::move(message.posted.done), message.bytes);
    segment.lane->erase(segment.number);
  }
  std::sort(which.begin(), which.begin() + count, std::greater<>());
  for (int i = 0; i < count; ++i) {
    auto at = static_cast<std::ptrdiff_t>(which[static_cast<size_t>(i)]);
    requests_.erase(requests_.begin() + at);
    running_.erase(running_.begin() + at);
  }
  for (Lane* lane : lanes) fill(*lane);
  for (auto& [call, bytes] : done) call(bytes);
  return true;
}

// While leaves compute, they have the cores, and bytes wait in the system's buffers until the next poll. A new message
// or the end of the last leaf ends the pause.
void MpiTransport::pause(int idle_rounds) {
  if (computing_ == 0) return back_off(idle_rounds, 100);
  std::unique_lock lock(mutex_);
  more_.wait_for(lock, poll_interval_.pause(PollInterval::Clock::now()),
                 [&] { return !posted_.empty() || computing_ == 0; });
}

}  // namespace distal::core
