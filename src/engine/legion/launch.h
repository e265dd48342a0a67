#pragma once

#include <string>
#include <vector>

#include "engine/legion/settings.h"

namespace distal::core {

// How to start an emitted program.
struct LegionLaunch {
  std::string executable;
  int ranks = 1;                       // processes
  int cpus = 1;                        // Legion's CPU processors in each process
  int cores = 1;                       // of this machine
  int64_t bytes = 0;                   // memory of the host for regions in each process
  std::vector<std::string> arguments;  // of the program itself
  int gpus = 0;                        // in each process
  int64_t gpu_bytes = 0;               // memory of each GPU for regions
};

// The command line and the environment to start it with.
std::vector<std::string> legion_command(const LegionLaunch& launch, const LegionSettings& settings);
std::vector<std::string> legion_environment(const LegionLaunch& launch, const LegionSettings& settings);

}  // namespace distal::core
