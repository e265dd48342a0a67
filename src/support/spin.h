#pragma once

#include <chrono>

namespace distal::core {

// Threads that spin for the next piece of work before they sleep. Once they and those that they work for are more than
// the cores, one that spins keeps another from its work, so nobody does.
void add_spinners(int threads);
void remove_spinners(int threads);
bool may_spin();

// Tells the core that this is a loop that waits.
inline void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether it came to hold within the time that spinning is worth: about what it takes to sleep and be woken.
template <class Condition>
bool spin_until(const Condition& holds) {
  constexpr std::chrono::microseconds kSpin{20};
  constexpr int kPausesBetweenLooks = 16;
  if (holds()) return true;
  if (!may_spin()) return false;
  auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < kPausesBetweenLooks; ++i) {
      pause_core();
      if (holds()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace distal::core
