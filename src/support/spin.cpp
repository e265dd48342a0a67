#include "support/spin.h"

#include <atomic>

#include "support/cores.h"

namespace distal::core {

namespace {
std::atomic<int> spinning_threads{0};
}

void add_spinners(int threads) { spinning_threads += threads; }
void remove_spinners(int threads) { spinning_threads -= threads; }
void forget_spinners() { spinning_threads = 0; }

bool may_spin() {
  static const int cores = usable_cores();
  return spinning_threads.load(std::memory_order_relaxed) < cores;
}

}  // namespace distal::core
