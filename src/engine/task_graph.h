#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace distal::core {

class Task;
using TaskPtr = std::shared_ptr<Task>;

class Task {
 public:
  Task(std::function<void()> body, int64_t its_number, bool ends_later = false)
      : work(std::move(body)), number(its_number), asynchronous(ends_later) {}

  std::function<void()> work;
  const int64_t number;     // in the script that is being recorded, or -1
  const bool asynchronous;  // `work` only starts the task; TaskGraph::complete ends it
  std::atomic<bool> done{false};
  // Guarded by the graph's mutex.
  int64_t waiting_for = 0;
  std::vector<TaskPtr> followers;
};

// Memory that tasks read and write. An exclusive user waits for all earlier users. Shared users only read it or write
// parts that no other task touches; they wait for the last exclusive user only.
class Resource {
 public:
  // Both append the tasks to wait for to `dependencies`.
  void add_shared(const TaskPtr& task, std::vector<TaskPtr>& dependencies);
  void add_exclusive(const TaskPtr& task, std::vector<TaskPtr>& dependencies);

 private:
  void prune();

  TaskPtr last_exclusive_;
  std::vector<TaskPtr> users_;  // shared users since then
  size_t prune_at_ = 64;        // users
};

// Tasks with dependencies on earlier tasks, run by a pool of threads. A task depends only on tasks submitted before it,
// so the graph has no cycle. Only ready tasks take a thread, so any number of processors share a few threads without
// blocking one another. With one thread and no asynchronous tasks, a task runs when it is submitted. An asynchronous
// task starts as soon as its dependencies are done, on the thread that notices it, and occupies no thread of the pool.
class TaskGraph {
 public:
  enum class Tasks { Synchronous, Mixed };
  // Called on the thread of a failed task, for example to tell other processes that wait for the task.
  using OnFailure = std::function<void(const std::exception_ptr& failure)>;
  explicit TaskGraph(int threads, Tasks tasks = Tasks::Synchronous, OnFailure on_failure = {});
  ~TaskGraph();
  TaskGraph(const TaskGraph&) = delete;
  TaskGraph& operator=(const TaskGraph&) = delete;

  static TaskPtr make(std::function<void()> work, int64_t number = -1);
  // A task that is done when `complete` is called, from any thread; `start` only starts it.
  static TaskPtr make_asynchronous(std::function<void()> start);
  void complete(const TaskPtr& task) { finish(task); }
  // Submits a task. Blocks while very many tasks are unfinished, so that a long plan needs little memory. After a task
  // has failed, this or wait() rethrows its exception, and no further task runs.
  void submit(const TaskPtr& task, const std::vector<TaskPtr>& dependencies);
  void wait();
  int64_t tasks_run() const;

 private:
  void work();
  void stop();
  void run(const TaskPtr& task);
  void start(const TaskPtr& task);
  bool carry_out(const TaskPtr& task);
  void finish(const TaskPtr& task);

  bool inline_ = false;
  OnFailure on_failure_;
  mutable std::mutex mutex_;
  std::condition_variable ready_changed_;
  std::condition_variable drained_;
  std::deque<TaskPtr> ready_;
  int64_t unfinished_ = 0;
  int64_t run_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace distal::core
