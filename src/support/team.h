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

// A caller and some helper threads that share a piece of work in parts of a few microseconds and more. Between two
// pieces the helpers spin shortly, so that the next one starts at once, and then sleep. They are started by the first
// piece, so that a team that is never asked costs nothing. One thread at a time may call run.
class Team {
 public:
  explicit Team(int threads);  // with the caller; at least 1 is taken
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // Runs part(0) here and part(1) .. part(size() - 1) on the helpers, all at once, and returns when all have ended. A
  // part that its helper has not begun when the caller is done with its own, as on a machine with other things to do,
  // is the caller's too. The first exception of a part comes out. Allocates nothing once the helpers have started.
  template <class Part>
  void run(Part&& part) {
    using Callee = std::remove_reference_t<Part>;
    share({const_cast<void*>(static_cast<const void*>(std::addressof(part))),
           [](void* callee, int i) { (*static_cast<Callee*>(callee))(i); }});
  }

 private:
  // A reference to what run was given, without the allocation that a std::function may need.
  struct PartRef {
    void* callee = nullptr;
    void (*call)(void*, int) = nullptr;
  };

  void share(PartRef part);
  void start();
  void stop();
  void wake_helpers();
  void wait_for_helpers();
  void help(int i);
  bool wait_for_round(uint32_t seen);
  bool claim(int i, uint32_t round);
  void carry_out(int i);

  // The last round in which a part was begun, by its helper or by the caller. Each has a cache line to itself.
  struct alignas(64) Begun {
    std::atomic<uint32_t> round{0};
  };

  int size_;
  PartRef part_;
  std::atomic<uint32_t> round_{0};  // one more at each run, and at the end
  std::unique_ptr<Begun[]> begun_;  // by part
  std::atomic<int> busy_{0};        // parts but the first that have not ended this round
  std::atomic<int> sleepers_{0};    // helpers that must be woken
  std::atomic<bool> caller_sleeps_{false};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable round_changed_;
  std::condition_variable all_ended_;
  std::exception_ptr failure_;  // guarded by the mutex while parts run
  std::vector<std::thread> helpers_;
};

}  // namespace distal::core
