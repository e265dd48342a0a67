#include "distal/progress.h"

#include <utility>

namespace distal {

Progress::State Progress::state() const {
  std::lock_guard lock(mutex_);
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
  return {what_, done_, total_, taken.count()};
}

void Progress::begin(std::string what, int64_t total) {
  std::lock_guard lock(mutex_);
  what_ = std::move(what);
  total_ = total;
  done_ = 0;
  start_ = std::chrono::steady_clock::now();
}

void Progress::require_wanted() const {
  if (cancelled_) throw Interrupted();
}

}  // namespace distal
