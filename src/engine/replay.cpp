#include "engine/replay.h"

#include <utility>

#include "support/spin.h"

namespace distal::core {

namespace {
constexpr int32_t kNone = -1;
}

Replay::Replay(const std::deque<std::function<void()>>& work, const std::vector<std::vector<int32_t>>& waits_for)
    : work_(work),
      of_task_(work.size() + 1, 0),
      unfinished_(std::make_unique<std::atomic<int32_t>[]>(work.size())),
      ready_(std::make_unique<std::atomic<int32_t>[]>(work.size())) {
  std::vector<std::vector<int32_t>> followers(work.size());
  for (size_t t = 0; t < work.size(); ++t) {
    waits_for_.push_back(static_cast<int32_t>(waits_for[t].size()));
    for (int32_t before : waits_for[t]) followers[static_cast<size_t>(before)].push_back(static_cast<int32_t>(t));
  }
  for (size_t t = 0; t < work.size(); ++t) {
    followers_.insert(followers_.end(), followers[t].begin(), followers[t].end());
    of_task_[t + 1] = followers_.size();
  }
}

void Replay::run(Team& crew) {
  reset();
  crew.run([this](int) { draw_tickets(); });
  // No lock: the crew has ended.
  if (std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

// The crew has not started, so relaxed stores are enough.
void Replay::reset() {
  constexpr auto kAnyOrder = std::memory_order_relaxed;
  size_t ready = 0;
  for (size_t t = 0; t < work_.size(); ++t) {
    unfinished_[t].store(waits_for_[t], kAnyOrder);
    ready_[t].store(kNone, kAnyOrder);
    if (waits_for_[t] == 0) ready_[ready++].store(static_cast<int32_t>(t), kAnyOrder);
  }
  drawn_.store(0, kAnyOrder);
  made_ready_.store(ready, kAnyOrder);
  failed_.store(false, kAnyOrder);
}

void Replay::draw_tickets() {
  for (size_t ticket = drawn_++; ticket < work_.size(); ticket = drawn_++) {
    int32_t task = task_of(ticket);
    carry_out(task);
    release_followers(task);
  }
}

int32_t Replay::task_of(size_t ticket) {
  std::atomic<int32_t>& task = ready_[ticket];
  auto is_there = [&] { return task != kNone; };
  if (!spin_until(is_there)) {
    std::unique_lock lock(mutex_);
    ++sleepers_;
    more_ready_.wait(lock, is_there);
    --sleepers_;
  }
  return task;
}

void Replay::carry_out(int32_t task) {
  if (failed_) return;  // the run has failed; the remaining tasks only drain
  try {
    work_[static_cast<size_t>(task)]();
  } catch (...) {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    failed_ = true;
  }
}

void Replay::release_followers(int32_t task) {
  auto t = static_cast<size_t>(task);
  for (size_t i = of_task_[t]; i < of_task_[t + 1]; ++i) {
    if (--unfinished_[static_cast<size_t>(followers_[i])] == 0) make_ready(followers_[i]);
  }
}

// No wake-up is lost: a thread counts itself as a sleeper before its last look for the task, and this stores the task
// before it looks for sleepers.
void Replay::make_ready(int32_t task) {
  ready_[made_ready_++] = task;
  if (sleepers_ == 0) return;
  { std::lock_guard lock(mutex_); }
  more_ready_.notify_all();
}

}  // namespace distal::core
