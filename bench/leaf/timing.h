#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace leaf {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Timing {
  double best = 0;
  double median = 0;
  size_t repetitions = 0;
  double work = 0;  // bytes or flops of one repetition; 0 if the caller knows them
};

inline double seconds_of(const std::function<void()>& body) {
  double start = now();
  body();
  return now() - start;
}

inline Timing summary(std::vector<double> times, double work = 0) {
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2], times.size(), work};
}

// Repeats the body until `seconds` have passed, at least once. A short body runs once untimed before, because other
// workers have replaced the contents of the caches.
inline Timing repeat(double seconds, const std::function<void()>& body) {
  constexpr size_t kMaxRepetitions = 20000;
  double end = now() + seconds;
  std::vector<double> times{seconds_of(body)};
  bool is_short = times[0] < seconds / 2;
  if (is_short) times.clear();
  while (times.empty() || (now() < end && times.size() < kMaxRepetitions)) times.push_back(seconds_of(body));
  return summary(std::move(times));
}

using Candidates = std::vector<std::function<void()>>;

// Several implementations of the same computation. The first call of time() keeps only the fastest one, so that it is
// repeated as often as any competitor in a round.
class FastestCandidate {
 public:
  FastestCandidate() = default;
  explicit FastestCandidate(Candidates candidates) : candidates_(std::move(candidates)) {}

  bool empty() const { return candidates_.empty(); }
  const Candidates& all() const { return candidates_; }

  Timing time(double seconds) {
    if (candidates_.size() > 1) candidates_ = {candidates_[fastest()]};
    return repeat(seconds, candidates_[0]);
  }

 private:
  size_t fastest() const {
    constexpr int kTries = 4;
    std::vector<double> best(candidates_.size(), std::numeric_limits<double>::infinity());
    for (int t = 0; t < kTries; ++t) {
      for (size_t c = 0; c < candidates_.size(); ++c) best[c] = std::min(best[c], seconds_of(candidates_[c]));
    }
    return static_cast<size_t>(std::min_element(best.begin(), best.end()) - best.begin());
  }

  Candidates candidates_;
};

}  // namespace leaf
