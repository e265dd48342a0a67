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

// The tasks of a stage, written down as they were made once, to be run again without walking the plan.
class Script {
 public:
  // A longer stage is walked each time: it has work enough to hide the walk, and its tasks would fill memory.
  static constexpr int64_t kMostTasks = 4096;

  // Takes tasks in an order in which they can run. The work stays where it is from now on.
  int64_t add(std::function<void()> work);
  const std::function<void()>& work(int64_t task) const { return work_[static_cast<size_t>(task)]; }
  // What the last one added waits for; all have numbers of this script.
  void set_dependencies(const std::vector<TaskPtr>& tasks);
  void finish();  // no more are added

  int64_t size() const { return static_cast<int64_t>(work_.size()); }
  // Where each task waits for the one before, more threads are of no use.
  bool is_chain() const { return is_chain_; }

  // Both end with the first exception of a task, and can be called again after it.
  void run_here() const;
  void run_on(Team& crew);

  // What the walk counted that it was written in.
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
  std::vector<std::vector<int32_t>> waits_for_;  // by task, in order and each once
  bool is_chain_ = true;
  std::unique_ptr<Replay> replay_;
};

}  // namespace distal::core
