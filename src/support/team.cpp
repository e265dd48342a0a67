#include "support/team.h"

#include <algorithm>
#include <utility>

#include "support/spin.h"

namespace distal::core {

Team::Team(int threads) : size_(std::max(1, threads)) {}

Team::~Team() { stop_helpers(); }

void Team::run_all(FunctionRef f) {
  f_ = f;
  if (size_ == 1) return f_.call(f_.callee, 0);
  if (helpers_.empty()) start_helpers();
  unfinished_ = size_ - 1;
  ++round_;  // publishes f_ and unfinished_: a helper that sees the new round sees them too
  wake_helpers();
  call(0);
  for (int i = 1; i < size_; ++i) {
    if (!claim(i, round_)) continue;
    call(i);
    --unfinished_;
  }
  wait_for_helpers();
  // All calls have ended, so failure_ needs no lock.
  if (std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

void Team::start_helpers() {
  claimed_ = std::make_unique<Claim[]>(static_cast<size_t>(size_));
  helpers_.reserve(static_cast<size_t>(size_ - 1));
  try {
    for (int i = 1; i < size_; ++i) {
      helpers_.emplace_back([this, i] { help(i); });
      add_spinners(1);
    }
  } catch (...) {  // the system has no more threads
    stop_helpers();
    throw;
  }
}

void Team::stop_helpers() {
  stopping_ = true;
  ++round_;
  wake_helpers();
  for (std::thread& t : helpers_) t.join();
  remove_spinners(static_cast<int>(helpers_.size()));
  helpers_.clear();
  round_ = 0;
  stopping_ = false;
}

// No wake-up is lost: a helper increments sleepers_ before it checks the round for the last time, and the caller
// increments the round before it reads sleepers_.
void Team::wake_helpers() {
  if (sleepers_ == 0) return;
  { std::lock_guard lock(mutex_); }
  round_changed_.notify_all();
}

void Team::wait_for_helpers() {
  if (spin_until([&] { return unfinished_ == 0; })) return;
  std::unique_lock lock(mutex_);
  caller_sleeps_ = true;
  all_ended_.wait(lock, [&] { return unfinished_ == 0; });
  caller_sleeps_ = false;
}

void Team::help(int i) {
  for (uint32_t seen = 0; wait_for_round(seen); ++seen) {
    if (!claim(i, seen + 1)) continue;
    call(i);
    if (--unfinished_ > 0 || !caller_sleeps_) continue;
    { std::lock_guard lock(mutex_); }
    all_ended_.notify_one();
  }
}

// Waits for a round after `seen`. Returns false if the team stops.
bool Team::wait_for_round(uint32_t seen) {
  auto changed = [&] { return round_ != seen; };
  if (!spin_until(changed)) {
    std::unique_lock lock(mutex_);
    ++sleepers_;
    round_changed_.wait(lock, changed);
    --sleepers_;
  }
  return !stopping_;
}

// Reserves call i of a round. Returns false if another thread has it. A helper that slept through rounds fails to claim
// them, because the caller did.
bool Team::claim(int i, uint32_t round) {
  uint32_t before = round - 1;
  return claimed_[static_cast<size_t>(i)].round.compare_exchange_strong(before, round);
}

void Team::call(int i) {
  try {
    f_.call(f_.callee, i);
  } catch (...) {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

}  // namespace distal::core
