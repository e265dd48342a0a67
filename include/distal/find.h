#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "distal/progress.h"

namespace distal {

// What a schedule, a grid and formats that are found are the best for.
enum class Goal {
  Time,  // the least time by the model of an engine
  Bytes  // the least that the busiest processor exchanges, and then the least that all of them move
};

// How to find what a program leaves out: the schedule of a statement whose schedule() was never called, the grid of a
// Machine of Processors, and the format of a tensor that has a machine only. What is found depends on nothing but the
// program, the values of its params and these options, so it is the same at every start.
struct FindOptions {
  Goal goal = Goal::Time;                 // what to find the best for
  std::optional<int64_t> memory_bytes{};  // that a processor may need at most; none: any number
  std::string engine = "threads";         // whose model says what takes how long: threads, mpi or legion
  std::string model{};                    // a file with another model (docs/command-line.md); empty: the engine's
  Progress* progress = nullptr;           // counts the candidates, and can end the search; not owned
};

}  // namespace distal
