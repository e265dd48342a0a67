// Measures the memory bandwidth: reads BYTES on all cores with several candidate loops in turn, because the fastest one
// changes with the state of the machine. Prints the best time as a line of JSON. Usage: read BYTES REPS

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "../leaf/limits.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: read BYTES REPS\n", stderr);
    return 2;
  }
  leaf::Bandwidth memory(static_cast<int>(std::thread::hardware_concurrency()), std::atoll(argv[1]));
  double best = INFINITY;
  for (int rep = 0; rep <= std::atoi(argv[2]); ++rep) {
    for (const auto& candidate : memory.read_candidates()) best = std::min(best, leaf::seconds_of(candidate));
  }
  std::printf("{\"seconds_min\": %.9f}\n", best);
  return 0;
}
