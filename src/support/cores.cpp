#include "support/cores.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace distal::core {

int usable_cores() {
  auto all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  cpu_set_t mine;
  // The call fails on machines with more cores than the set can hold; then the mask is unknown.
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return all;
  return std::clamp(CPU_COUNT(&mine), 1, all);
}

}  // namespace distal::core
