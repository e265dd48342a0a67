#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "engine/replay.h"
#include "engine/task_graph.h"
#include "support/team.h"

namespace distal::core {

// A recording of the tasks of a stage, which runs them again without walking the plan.
class Script {
 public:
  // A longer stage is walked at each run: its work hides the cost of the walk, and its recording would fill memory.
  static constexpr int64_t kMostTasks = 4096;

  // Tasks are added in an order in which they can run. Returns the task's number; its work never moves again.
  int64_t add(std::function<void()> work);
  const std::function<void()>& work(int64_t task) const { return work_[static_cast<size_t>(task)]; }
  // Sets the tasks that the last added task waits for. Their numbers must be of this script.
  void set_dependencies(const std::vector<TaskPtr>& tasks);
  void finish();  // after the last task

  int64_t size() const { return static_cast<int64_t>(work_.size()); }
  // True if every task waits for the one before it: more threads do not help then.
  bool is_chain() const { return is_chain_; }

  // Both rethrow the first exception of a task, and can be called again after that.
  void run_here() const;
  void run_on(Team& crew);

  // What was counted when the script was recorded.
  void counted(int64_t bytes_moved, int64_t messages) {
    bytes_moved_ = bytes_moved;
    messages_ = messages;
  }
  int64_t bytes_moved() const { return bytes_moved_; }
  int64_t messages() const { return messages_; }

 private:
  int64_t bytes_moved_ = 0;
  int64_t messages_ = 0;
  std::deque<std::function<void()>> work_;
  std::vector<std::vector<int32_t>> waits_for_;  // by task: ascending, without duplicates
  bool is_chain_ = true;
  std::unique_ptr<Replay> replay_;
};

}  // namespace distal::core
