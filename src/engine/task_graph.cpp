#include "engine/task_graph.h"

#include <algorithm>
#include <utility>

namespace distal::core {

namespace {
constexpr int64_t kMostUnfinished = 4096;
}  // namespace

void Resource::add_shared(const TaskPtr& task, std::vector<TaskPtr>& dependencies) {
  if (last_exclusive_) dependencies.push_back(last_exclusive_);
  if (users_.size() >= prune_at_) prune();
  users_.push_back(task);
}

// Drops the users that are done: no task has to wait for them. Tasks of a script stay, as it records the dependencies.
void Resource::prune() {
  std::erase_if(users_, [](const TaskPtr& t) { return t->done.load() && t->number < 0; });
  prune_at_ = std::max<size_t>(64, 2 * users_.size());
}

void Resource::add_exclusive(const TaskPtr& task, std::vector<TaskPtr>& dependencies) {
  if (last_exclusive_) dependencies.push_back(last_exclusive_);
  dependencies.insert(dependencies.end(), users_.begin(), users_.end());
  users_.clear();
  last_exclusive_ = task;
}

TaskGraph::TaskGraph(int threads, Tasks tasks, OnFailure on_failure)
    : inline_(threads <= 1 && tasks == Tasks::Synchronous), on_failure_(std::move(on_failure)) {
  if (inline_) return;
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {  // the system has no more threads
    stop();
    throw;
  }
}

TaskGraph::~TaskGraph() { stop(); }

void TaskGraph::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

TaskPtr TaskGraph::make(std::function<void()> work, int64_t number) {
  return std::make_shared<Task>(std::move(work), number);
}

TaskPtr TaskGraph::make_asynchronous(std::function<void()> start) {
  return std::make_shared<Task>(std::move(start), -1, true);
}

void TaskGraph::submit(const TaskPtr& task, const std::vector<TaskPtr>& dependencies) {
  if (inline_) {
    task->work();
    task->done = true;
    task->work = nullptr;
    ++run_;
    return;
  }
  std::unique_lock lock(mutex_);
  drained_.wait(lock, [&] { return unfinished_ < kMostUnfinished || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  ++unfinished_;
  for (const TaskPtr& d : dependencies) {
    if (d == task || d->done) continue;
    d->followers.push_back(task);
    ++task->waiting_for;
  }
  if (task->waiting_for > 0) return;
  if (!task->asynchronous) ready_.push_back(task);
  lock.unlock();
  if (task->asynchronous) return start(task);
  ready_changed_.notify_one();
}

void TaskGraph::wait() {
  std::unique_lock lock(mutex_);
  drained_.wait(lock, [&] { return unfinished_ == 0; });
  // All tasks of the failed run are gone, so the next run starts anew.
  if (std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

int64_t TaskGraph::tasks_run() const {
  std::lock_guard lock(mutex_);
  return run_;
}

void TaskGraph::work() {
  while (true) {
    TaskPtr task;
    {
      std::unique_lock lock(mutex_);
      ready_changed_.wait(lock, [&] { return stopping_ || !ready_.empty(); });
      if (ready_.empty()) return;
      task = std::move(ready_.front());
      ready_.pop_front();
    }
    run(task);
  }
}

void TaskGraph::run(const TaskPtr& task) {
  carry_out(task);
  finish(task);
}

void TaskGraph::start(const TaskPtr& task) {
  if (!carry_out(task)) finish(task);
}

// Runs the task's work. False if the run has failed before, or if the work throws.
bool TaskGraph::carry_out(const TaskPtr& task) {
  {
    std::lock_guard lock(mutex_);
    if (failure_) return false;  // the run has failed; the remaining tasks only drain
  }
  // Moved out: another thread may complete an asynchronous task, and clear its work, before the call returns.
  std::function<void()> work = std::move(task->work);
  try {
    work();
    return true;
  } catch (...) {
    if (on_failure_) on_failure_(std::current_exception());
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    return false;
  }
}

void TaskGraph::finish(const TaskPtr& task) {
  task->work = nullptr;
  size_t released = 0;
  std::vector<TaskPtr> starting;
  {
    std::lock_guard lock(mutex_);
    task->done = true;
    ++run_;
    for (TaskPtr& f : task->followers) {
      if (--f->waiting_for > 0) continue;
      if (f->asynchronous) {
        starting.push_back(std::move(f));
        continue;
      }
      ready_.push_back(std::move(f));
      ++released;
    }
    task->followers.clear();
    --unfinished_;
    drained_.notify_all();  // under the lock: a thread in wait() may destroy the graph as soon as it sees no tasks
    // An asynchronous task may end on a foreign thread, which the destructor does not join: also notify under the lock.
    for (; task->asynchronous && released > 0; --released) ready_changed_.notify_one();
  }
  for (; released > 0; --released) ready_changed_.notify_one();
  for (const TaskPtr& t : starting) start(t);
}

}  // namespace distal::core
