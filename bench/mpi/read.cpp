// What memory allows who has to read so much: read BYTES REPS reads it on all cores of this process, in several ways in
// turn, as which is the fastest changes with the machine's state, and prints the best time of all as a line of JSON.

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
    for (const auto& way : memory.ways_to_read()) best = std::min(best, leaf::seconds_of(way));
  }
  std::printf("{\"seconds_min\": %.9f}\n", best);
  return 0;
}
