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
  double work = 0;  // bytes or flops of one repetition, where the caller cannot know them
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

// Repeats the body until `seconds` have passed, at least once. Before a short one there is a run that does not count:
// other workers had the caches in the meantime.
inline Timing repeat(double seconds, const std::function<void()>& body) {
  constexpr size_t kMost = 20000;
  double end = now() + seconds;
  std::vector<double> times{seconds_of(body)};
  bool is_short = times[0] < seconds / 2;
  if (is_short) times.clear();
  while (times.empty() || (now() < end && times.size() < kMost)) times.push_back(seconds_of(body));
  return summary(std::move(times));
}

// Of several ways to do the same, the fastest. It is found out once, so that in a round it has as many tries as
// anybody.
class BestWay {
 public:
  BestWay() = default;
  explicit BestWay(std::vector<std::function<void()>> ways) : ways_(std::move(ways)) {}

  bool empty() const { return ways_.empty(); }
  const std::vector<std::function<void()>>& all() const { return ways_; }

  Timing time(double seconds) {
    if (ways_.size() > 1) ways_ = {ways_[fastest()]};
    return repeat(seconds, ways_[0]);
  }

 private:
  size_t fastest() const {
    constexpr int kTries = 4;
    std::vector<double> best(ways_.size(), std::numeric_limits<double>::infinity());
    for (int t = 0; t < kTries; ++t) {
      for (size_t w = 0; w < ways_.size(); ++w) best[w] = std::min(best[w], seconds_of(ways_[w]));
    }
    return static_cast<size_t>(std::min_element(best.begin(), best.end()) - best.begin());
  }

  std::vector<std::function<void()>> ways_;
};

}  // namespace leaf
