#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "support/team.h"

namespace distal::core {

// Runs the same tasks again and again on a crew of threads, without an allocation or a lock per task. The threads draw
// tickets: ticket n is for the n-th task to become ready. Every task becomes ready at some time, so every ticket gets a
// task, and there are as many tickets as tasks.
class Replay {
 public:
  // Keeps a reference to `work`, whose elements must not move. A task waits only for tasks before it.
  Replay(const std::deque<std::function<void()>>& work, const std::vector<std::vector<int32_t>>& waits_for);

  // Rethrows the first exception of a task; no task begins after that one.
  void run(Team& crew);

 private:
  void reset();
  void draw_tickets();
  int32_t task_of(size_t ticket);
  void carry_out(int32_t task);
  void release_followers(int32_t task);
  void make_ready(int32_t task);

  const std::deque<std::function<void()>>& work_;
  std::vector<int32_t> waits_for_;  // by task: the number of tasks it waits for
  std::vector<int32_t> followers_;  // the tasks that wait for task 0, then those that wait for task 1, …
  std::vector<size_t> of_task_;     // by task: its first index in followers_; one more entry at the end

  std::unique_ptr<std::atomic<int32_t>[]> unfinished_;  // by task: the unfinished tasks it waits for
  std::unique_ptr<std::atomic<int32_t>[]> ready_;       // by ticket: the task, or kNone until it is known
  std::atomic<size_t> drawn_{0};                        // tickets drawn
  std::atomic<size_t> made_ready_{0};                   // tasks that became ready
  std::atomic<int> sleepers_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::condition_variable more_ready_;
  std::exception_ptr failure_;  // guarded by the mutex while the crew works
};

}  // namespace distal::core
