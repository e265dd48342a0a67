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

// Runs the same tasks again and again on a crew of threads, without an allocation or a lock a task. The crew draws
// tickets; the ticket of number n is for the task that becomes ready as the nth. All tasks do at some time, so whoever
// has a ticket gets a task, and there are as many tickets as tasks.
class Replay {
 public:
  // The work stays the caller's, and where it is. A task waits only for earlier ones.
  Replay(const std::deque<std::function<void()>>& work, const std::vector<std::vector<int32_t>>& waits_for);

  // Ends with the first exception of a task; no task begins after it.
  void run(Team& crew);

 private:
  void reset();
  void draw_tickets();
  int32_t task_of(size_t ticket);
  void carry_out(int32_t task);
  void release_followers(int32_t task);
  void make_ready(int32_t task);

  const std::deque<std::function<void()>>& work_;
  std::vector<int32_t> waits_for_;  // by task: how many others
  std::vector<int32_t> followers_;  // of all tasks
  std::vector<size_t> of_task_;     // where those of a task begin; one more at the end

  std::unique_ptr<std::atomic<int32_t>[]> unfinished_;  // by task: how many of those it waits for
  std::unique_ptr<std::atomic<int32_t>[]> ready_;       // by ticket: the task, or kNone as yet
  std::atomic<size_t> drawn_{0};                        // tickets
  std::atomic<size_t> made_ready_{0};                   // tasks
  std::atomic<int> sleepers_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::condition_variable more_ready_;
  std::exception_ptr failure_;  // guarded by the mutex while the crew works
};

}  // namespace distal::core
