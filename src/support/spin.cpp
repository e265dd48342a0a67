#include "support/spin.h"

#include <atomic>
#include <thread>

namespace distal::core {

namespace {
std::atomic<int> spinners{0};
}

void add_spinners(int threads) { spinners += threads; }
void remove_spinners(int threads) { spinners -= threads; }

bool may_spin() {
  static const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return spinners.load(std::memory_order_relaxed) < cores;
}

}  // namespace distal::core
