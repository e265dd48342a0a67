#include "support/team.h"

#include <algorithm>
#include <utility>

#include "support/spin.h"

namespace distal::core {

Team::Team(int threads) : size_(std::max(1, threads)) {}

Team::~Team() { stop(); }

void Team::share(PartRef part) {
  part_ = part;
  if (size_ == 1) return part_.call(part_.callee, 0);
  if (helpers_.empty()) start();
  busy_ = size_ - 1;
  ++round_;  // what was written before is seen by whoever sees this
  wake_helpers();
  carry_out(0);
  for (int i = 1; i < size_; ++i) {
    if (!claim(i, round_)) continue;
    carry_out(i);
    --busy_;
  }
  wait_for_helpers();
  // Nobody else has it now.
  if (std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

void Team::start() {
  begun_ = std::make_unique<Begun[]>(static_cast<size_t>(size_));
  helpers_.reserve(static_cast<size_t>(size_ - 1));
  try {
    for (int i = 1; i < size_; ++i) {
      helpers_.emplace_back([this, i] { help(i); });
      add_spinners(1);
    }
  } catch (...) {  // the system has no more threads
    stop();
    throw;
  }
}

void Team::stop() {
  stopping_ = true;
  ++round_;
  wake_helpers();
  for (std::thread& t : helpers_) t.join();
  remove_spinners(static_cast<int>(helpers_.size()));
  helpers_.clear();
  round_ = 0;
  stopping_ = false;
}

// A helper says that it sleeps before it looks at the round for the last time, and the caller changes the round before
// it looks for sleepers: one of the two sees the other.
void Team::wake_helpers() {
  if (sleepers_ == 0) return;
  { std::lock_guard lock(mutex_); }
  round_changed_.notify_all();
}

void Team::wait_for_helpers() {
  if (spin_until([&] { return busy_ == 0; })) return;
  std::unique_lock lock(mutex_);
  caller_sleeps_ = true;
  all_ended_.wait(lock, [&] { return busy_ == 0; });
  caller_sleeps_ = false;
}

void Team::help(int i) {
  for (uint32_t seen = 0; wait_for_round(seen); ++seen) {
    if (!claim(i, seen + 1)) continue;
    carry_out(i);
    if (--busy_ > 0 || !caller_sleeps_) continue;
    { std::lock_guard lock(mutex_); }
    all_ended_.notify_one();
  }
}

// Whether there is work in it: the last round is the end.
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

// Whether nobody else has it. A helper that slept through rounds finds them gone.
bool Team::claim(int i, uint32_t round) {
  uint32_t before = round - 1;
  return begun_[static_cast<size_t>(i)].round.compare_exchange_strong(before, round);
}

void Team::carry_out(int i) {
  try {
    part_.call(part_.callee, i);
  } catch (...) {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

}  // namespace distal::core
