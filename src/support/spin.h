#pragma once

#include <chrono>

namespace distal::core {

// Counts the helper threads of this process, which spin for work before they sleep. Threads may spin only while there
// are fewer helper threads than cores: the thread that they help then has a core too. Otherwise a spinning thread would
// take a core from a working one.
void add_spinners(int threads);
void remove_spinners(int threads);
void forget_spinners();  // in a forked child, which has no helper threads
bool may_spin();

// Tells the core that it is in a spin loop.
inline void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until the condition holds, at most about as long as it takes to sleep and wake up. Returns whether it holds.
template <class Condition>
bool spin_until(const Condition& holds) {
  constexpr std::chrono::microseconds kSpin{20};
  constexpr int kPausesPerClockRead = 16;
  if (holds()) return true;
  if (!may_spin()) return false;
  auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      pause_core();
      if (holds()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace distal::core
