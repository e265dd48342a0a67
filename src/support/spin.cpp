#include "support/spin.h"

#include <atomic>

#include "support/cores.h"

namespace distal::core {

namespace {
std::atomic<int> spinners{0};
}

void add_spinners(int threads) { spinners += threads; }
void remove_spinners(int threads) { spinners -= threads; }

bool may_spin() {
  static const int cores = usable_cores();
  return spinners.load(std::memory_order_relaxed) < cores;
}

}  // namespace distal::core
