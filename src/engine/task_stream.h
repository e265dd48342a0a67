#pragma once

#include <memory>
#include <utility>

#include "engine/script.h"
#include "engine/task_graph.h"

namespace distal::core {

// Runs the tasks of a stage while they are made, and writes them down as long as they are not too many and none is
// asynchronous.
class TaskStream {
 public:
  TaskStream(int workers, TaskGraph::Tasks tasks, TaskGraph::OnFailure on_failure = {})
      : workers_(workers), kind_(tasks), on_failure_(std::move(on_failure)) {}

  void begin();
  TaskPtr make(std::function<void()> work);
  // `start` is given what it has to call, from any thread, when the task is complete.
  TaskPtr make_asynchronous(std::function<void(std::function<void()> complete)> start);
  // Right after it was made.
  void submit(const TaskPtr& task, const std::vector<TaskPtr>& dependencies);
  // Waits for all tasks. What was written is the caller's; null if it is not all.
  std::unique_ptr<Script> end();
  // The same where the caller has a failure already.
  void give_up();
  // Ends the threads until the next begin.
  void rest() { graph_ = nullptr; }

  int64_t tasks() const { return tasks_; }

 private:
  int workers_;
  TaskGraph::Tasks kind_;
  TaskGraph::OnFailure on_failure_;
  int64_t tasks_ = 0;
  bool writing_ = false;            // the script has all tasks up to now
  std::unique_ptr<Script> script_;  // also keeps the work of what runs now
  std::unique_ptr<TaskGraph> graph_;
};

}  // namespace distal::core
