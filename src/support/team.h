#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace distal::core {

// A fork-join thread team: the caller and some helper threads share work that takes a few microseconds or more. After
// each run the helpers spin for a short time, so that the next run starts fast, and then sleep. The first run starts
// them, so an unused team costs nothing. Only one thread at a time may call run.
class Team {
 public:
  explicit Team(int threads);  // counts the caller; less than 1 means 1
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // Runs f(0) on the caller and f(1) .. f(size() - 1) on the helpers, in parallel, and returns when all calls have
  // ended. After its own call the caller also makes the calls that helpers have not started yet: on a busy machine a
  // helper may wake up late. Rethrows the first exception. Allocates no memory once the helpers have started.
  template <class Function>
  void run(Function&& f) {
    using Callee = std::remove_reference_t<Function>;
    run_all({const_cast<void*>(static_cast<const void*>(std::addressof(f))),
             [](void* callee, int i) { (*static_cast<Callee*>(callee))(i); }});
  }

 private:
  // A reference to a callable. A std::function could allocate memory.
  struct FunctionRef {
    void* callee = nullptr;
    void (*call)(void*, int) = nullptr;
  };

  void run_all(FunctionRef f);
  void start_helpers();
  void stop_helpers();
  void wake_helpers();
  void wait_for_helpers();
  void help(int i);
  bool wait_for_round(uint32_t seen);
  bool claim(int i, uint32_t round);
  void call(int i);

  // The last round in which call i was claimed, by its helper or by the caller. The alignment prevents false sharing.
  struct alignas(64) Claim {
    std::atomic<uint32_t> round{0};
  };

  int size_;
  FunctionRef f_;
  std::atomic<uint32_t> round_{0};    // incremented by each run, and by stop_helpers
  std::unique_ptr<Claim[]> claimed_;  // by call
  std::atomic<int> unfinished_{0};    // calls of this round that have not ended; call 0 does not count
  std::atomic<int> sleepers_{0};      // helpers that sleep
  std::atomic<bool> caller_sleeps_{false};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable round_changed_;
  std::condition_variable all_ended_;
  std::exception_ptr failure_;  // guarded by the mutex during a run
  std::vector<std::thread> helpers_;
};

}  // namespace distal::core
