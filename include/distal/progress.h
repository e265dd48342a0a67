#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "distal/error.h"

namespace distal {

// Thrown by a job that was ended by Progress::cancel().
class Interrupted : public Error {
 public:
  Interrupted() : Error("interrupted") {}
};

// How far a long job is, and whether it shall end: a run (RunOptions), or the search for what a program leaves out
// (FindOptions). The job reports to it. Other threads read it, or cancel the job.
class Progress {
 public:
  // What the job does now.
  struct State {
    std::string what;    // for instance "running 2 of 3"; empty: nothing
    int64_t done = 0;    // parts that are done
    int64_t total = 0;   // all parts; 0: unknown
    double seconds = 0;  // since this began
  };
  State state() const;  // for any thread

  // Asks the job to end: it throws Interrupted before its next part. A leaf that runs is finished
  // first. Any thread may call it, and a signal handler.
  void cancel() noexcept { cancelled_ = true; }
  bool is_cancelled() const noexcept { return cancelled_; }  // whether cancel() was called

  void begin(std::string what, int64_t total = 0);              // the job begins with something else
  void advance(int64_t parts = 1) noexcept { done_ += parts; }  // as many further parts are done
  void require_wanted() const;                                  // throws if the job was cancelled

 private:
  std::atomic<bool> cancelled_{false};
  std::atomic<int64_t> done_{0};
  mutable std::mutex mutex_;  // guards what follows
  std::string what_;
  int64_t total_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace distal
