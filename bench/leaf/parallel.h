#pragma once

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace leaf {

// Calls f(part, begin, end) for `threads` equal parts of [0, n), each in its own thread.
inline void parallel(int threads, int64_t n, const std::function<void(int, int64_t, int64_t)>& f) {
  auto bound = [&](int part) { return n * part / threads; };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back([&, t] { f(t, bound(t), bound(t + 1)); });
  f(0, bound(0), bound(1));
  for (std::thread& other : others) other.join();
}

}  // namespace leaf
