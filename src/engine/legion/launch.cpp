#include "engine/legion/launch.h"

#include "support/checked.h"
#include "support/error.h"

namespace distal::core {

namespace {

constexpr int64_t kMegabyte = 1 << 20;

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Whether there are more threads than cores: each process also has threads that serve the network.
bool is_crowded(const LegionLaunch& launch) {
  return launch.ranks > 1 && launch.ranks * (launch.cpus + 1) > launch.cores;
}

}  // namespace

std::vector<std::string> legion_command(const LegionLaunch& launch, const LegionSettings& settings) {
  std::vector<std::string> out;
  if (launch.ranks > 1) {
    if (settings.mpirun.empty()) {
      throw Error("several processes need mpirun, which was not found", {}, "install openmpi-bin",
                  Error::Kind::Resources);
    }
    append(out, settings.mpirun);
    append(out, {"-n", std::to_string(launch.ranks)});
  }
  append(out, {launch.executable, "-ll:cpu", std::to_string(launch.cpus), "-ll:csize",
               std::to_string(ceil_div(launch.bytes, kMegabyte))});
  if (launch.gpus > 0) {
    append(out, {"-ll:gpu", std::to_string(launch.gpus), "-ll:fsize",
                 std::to_string(ceil_div(launch.gpu_bytes, kMegabyte)), "-ll:zsize", "256"});
  }
  append(out, settings.args);
  if (launch.ranks == 1) append(out, settings.single_args);
  if (is_crowded(launch)) append(out, settings.crowded_args);
  append(out, launch.arguments);
  return out;
}

std::vector<std::string> legion_environment(const LegionLaunch& launch, const LegionSettings& settings) {
  std::vector<std::string> out = settings.env;
  if (is_crowded(launch)) append(out, settings.crowded_env);
  return out;
}

}  // namespace distal::core
