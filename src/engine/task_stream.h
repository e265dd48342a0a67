#pragma once

#include <memory>
#include <utility>

#include "engine/script.h"
#include "engine/task_graph.h"

namespace distal::core {

// Runs the tasks of a stage while they are made, and records them in a script. There is no script if the tasks are more
// than Script::kMostTasks or may be asynchronous.
class TaskStream {
 public:
  TaskStream(int workers, TaskGraph::Tasks tasks, TaskGraph::OnFailure on_failure = {})
      : workers_(workers), kind_(tasks), on_failure_(std::move(on_failure)) {}

  void begin();
  TaskPtr make(std::function<void()> work);
  // `start` must arrange that its argument is called, from any thread, when the task is complete.
  TaskPtr make_asynchronous(std::function<void(std::function<void()> complete)> start);
  // Submits the task made last.
  void submit(const TaskPtr& task, const std::vector<TaskPtr>& dependencies);
  // Waits for all tasks. Returns their script, or null if not all tasks were recorded.
  std::unique_ptr<Script> end();
  // Waits for all tasks after a failure, and ignores their exceptions.
  void give_up();
  // Ends the threads. The next begin() starts new ones.
  void rest() { graph_ = nullptr; }

  int64_t tasks() const { return tasks_; }

 private:
  int workers_;
  TaskGraph::Tasks kind_;
  TaskGraph::OnFailure on_failure_;
  int64_t tasks_ = 0;
  bool recording_ = false;          // the script has all tasks so far
  std::unique_ptr<Script> script_;  // also owns the work of recorded tasks while they run
  std::unique_ptr<TaskGraph> graph_;
};

}  // namespace distal::core
