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
  const int64_t number;     // in the script that is being written, or -1
  const bool asynchronous;  // its work only starts it; somebody says when it is complete
  std::atomic<bool> done{false};
  // Guarded by the graph's mutex.
  int64_t waiting_for = 0;
  std::vector<TaskPtr> followers;
};

// Something that tasks read and write. A task that changes all of it waits for everyone before; tasks that only read
// it, or write parts of it that no other touches, wait for the last change only.
class Resource {
 public:
  void add_shared(const TaskPtr& task, std::vector<TaskPtr>& dependencies);
  void add_exclusive(const TaskPtr& task, std::vector<TaskPtr>& dependencies);

 private:
  void prune();

  TaskPtr changed_;
  std::vector<TaskPtr> users_;
  size_t prune_at_ = 64;  // users
};

// Tasks with dependencies on earlier tasks, run by a pool of threads. As a task depends only on tasks submitted before
// it, the graph has no cycle, and as only ready tasks take a thread, any number of processors share a few threads
// without waiting on one another. With one thread tasks run as they are submitted, unless some are asynchronous: those
// start, on whatever thread, as soon as what they wait for is done, and take no thread of the pool.
class TaskGraph {
 public:
  enum class Tasks { Synchronous, Mixed };
  // Where others wait for what a failed task was to do, `on_failure` tells them; it is called on the task's thread.
  using OnFailure = std::function<void(const std::exception_ptr& failure)>;
  explicit TaskGraph(int threads, Tasks tasks = Tasks::Synchronous, OnFailure on_failure = {});
  ~TaskGraph();
  TaskGraph(const TaskGraph&) = delete;
  TaskGraph& operator=(const TaskGraph&) = delete;

  static TaskPtr make(std::function<void()> work, int64_t number = -1);
  // One that is not done when its work is, but when `complete` is called, from any thread.
  static TaskPtr make_asynchronous(std::function<void()> start);
  void complete(const TaskPtr& task) { finish(task); }
  // Takes the task over. Waits while very many tasks are unfinished, so that a long plan needs little memory. Once a
  // task has failed, its exception comes out here or from wait(), and no further task runs.
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
