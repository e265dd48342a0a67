#pragma once

#include <string>
#include <vector>

#include "engine/legion/settings.h"

namespace distal::core {

// How an emitted program is started.
struct LegionLaunch {
  std::string executable;
  int ranks = 1;                       // processes
  int cpus = 1;                        // processors of Legion's in each
  int cores = 1;                       // of this machine
  int64_t bytes = 0;                   // of memory for regions in each process
  std::vector<std::string> arguments;  // of the program itself
  int gpus = 0;                        // in each process, whose own memories are then as large
};

// The words to start it with, and its environment.
std::vector<std::string> legion_command(const LegionLaunch& launch, const LegionSettings& settings);
std::vector<std::string> legion_environment(const LegionLaunch& launch, const LegionSettings& settings);

}  // namespace distal::core
