#include "engine/task_stream.h"

namespace distal::core {

void TaskStream::begin() {
  if (!graph_) graph_ = std::make_unique<TaskGraph>(workers_, kind_, on_failure_);
  script_ = std::make_unique<Script>();
  recording_ = kind_ == TaskGraph::Tasks::Synchronous;
  tasks_ = 0;
}

TaskPtr TaskStream::make(std::function<void()> work) {
  recording_ = recording_ && script_->size() < Script::kMostTasks;
  if (!recording_) return TaskGraph::make(std::move(work));
  int64_t number = script_->add(std::move(work));
  return TaskGraph::make([&recorded = script_->work(number)] { recorded(); }, number);
}

TaskPtr TaskStream::make_asynchronous(std::function<void(std::function<void()> complete)> start) {
  // The task captures a pointer to itself that is set after it is made.
  auto self = std::make_shared<std::weak_ptr<Task>>();
  TaskPtr task = TaskGraph::make_asynchronous([graph = graph_.get(), self, start = std::move(start)] {
    start([graph, task = self->lock()] { graph->complete(task); });
  });
  *self = task;
  return task;
}

void TaskStream::submit(const TaskPtr& task, const std::vector<TaskPtr>& dependencies) {
  if (recording_) script_->set_dependencies(dependencies);
  ++tasks_;
  graph_->submit(task, dependencies);
}

std::unique_ptr<Script> TaskStream::end() {
  graph_->wait();
  std::unique_ptr<Script> script = std::move(script_);
  if (!recording_) return nullptr;
  script->finish();
  return script;
}

void TaskStream::give_up() {
  try {
    graph_->wait();
  } catch (...) {  // the caller is already throwing
  }
  script_ = nullptr;
}

}  // namespace distal::core
