#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/random.h"

namespace distal::core::property {

// Makes random choices. The same seed gives the same choices on every system, which the distributions of the standard
// library do not promise.
class Choice {
 public:
  explicit Choice(uint64_t seed) : state_(mix_bits(seed + random_detail::kGolden)) {}

  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t first, int64_t last) { return first + below(last - first + 1); }
  bool chance(int percent) { return below(100) < percent; }

  template <class T>
  const T& of(const std::vector<T>& values) {
    return values[static_cast<size_t>(below(static_cast<int64_t>(values.size())))];
  }

  // Chooses an index of `weights`; each is as likely as its weight.
  size_t weighted(const std::vector<int>& weights) {
    int64_t sum = 0;
    for (int w : weights) sum += w;
    int64_t at = below(sum);
    for (size_t i = 0; i + 1 < weights.size(); ++i) {
      if (at < weights[i]) return i;
      at -= weights[i];
    }
    return weights.size() - 1;
  }

  template <class T>
  void shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[static_cast<size_t>(below(int64_t(i)))]);
  }

 private:
  uint64_t next() { return mix_bits(state_ += random_detail::kGolden); }

  uint64_t state_;
};

}  // namespace distal::core::property
