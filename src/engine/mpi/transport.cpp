#include "engine/mpi/transport.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "support/error.h"

namespace distal::core {

namespace {

constexpr int kLeastTags = 32767;  // that the standard promises

int tags_of(MPI_Comm communicator) {
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(communicator, MPI_TAG_UB, &value, &found);
  return found ? *static_cast<int*>(value) : kLeastTags;
}

void sleep_for(int microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }

// First at once again, then at longer and longer intervals: others may need the core.
void back_off(int rounds, int most_microseconds) {
  if (rounds < 20) {
    sched_yield();
  } else {
    sleep_for(std::min(most_microseconds, 5 << std::min(10, rounds - 20)));
  }
}

}  // namespace

void end_job(const Cluster& cluster, const std::exception_ptr& why) {
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
      thread_([this] { work(); }) {}

MpiTransport::~MpiTransport() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  more_.notify_one();
  thread_.join();
}

// At that time no message is on its way.
void MpiTransport::meet() {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // others see what this one wrote to memory that they share
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
  for (int idle = 0;;) {
    {
      std::unique_lock lock(mutex_);
      if (running_.empty()) {
        more_.wait(lock, [&] { return stopping_ || !posted_.empty(); });
        if (posted_.empty()) return;
      }
    }
    start_posted();
    idle = finish_some() ? 0 : idle + 1;
    if (idle > 0 && !running_.empty()) pause(idle);
  }
}

void MpiTransport::start_posted() {
  std::vector<Posted> fresh;
  {
    std::lock_guard lock(mutex_);
    fresh.swap(posted_);
  }
  for (Posted& p : fresh) {
    Datatype type(p.message, element_bytes_);
    int other = rank_of(p.is_send ? p.message.destination : p.message.source);
    int tag = static_cast<int>(p.message.number % most_tags_);  // far fewer are on their way at once
    MPI_Request request = MPI_REQUEST_NULL;
    if (p.is_send) {
      MPI_Isend(MPI_BOTTOM, 1, type.get(), other, tag, cluster_.all(), &request);
    } else {
      MPI_Irecv(MPI_BOTTOM, 1, type.get(), other, tag, cluster_.all(), &request);
    }
    requests_.push_back(request);
    running_.push_back({std::move(type), p.is_send, std::move(p.done)});
  }
}

bool MpiTransport::finish_some() {
  int count = 0;
  std::vector<int> which(requests_.size());
  std::vector<MPI_Status> statuses(requests_.size());
  MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, which.data(), statuses.data());
  if (count == MPI_UNDEFINED || count == 0) return false;
  std::vector<std::pair<Done, int64_t>> done;
  for (int i = 0; i < count; ++i) {
    Running& p = running_[static_cast<size_t>(which[static_cast<size_t>(i)])];
    MPI_Count bytes = 0;
    if (!p.is_send) MPI_Get_elements_x(&statuses[static_cast<size_t>(i)], p.type.get(), &bytes);
    done.emplace_back(std::move(p.done), static_cast<int64_t>(bytes));
  }
  std::sort(which.begin(), which.begin() + count, std::greater<>());
  for (int i = 0; i < count; ++i) {
    auto at = static_cast<std::ptrdiff_t>(which[static_cast<size_t>(i)]);
    requests_.erase(requests_.begin() + at);
    running_.erase(running_.begin() + at);
  }
  for (auto& [call, bytes] : done) call(bytes);
  return true;
}

// While leaves compute they are to have the cores, and bytes in the buffers of the system wait.
void MpiTransport::pause(int idle_rounds) const {
  if (computing_ > 0) {
    sleep_for(200);
  } else {
    back_off(idle_rounds, 100);
  }
}

}  // namespace distal::core
