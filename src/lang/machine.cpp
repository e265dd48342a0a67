#include "lang/machine.h"

namespace distal::core {

std::string to_string(Processor kind) { return kind == Processor::CPU ? "cpu" : "gpu"; }

std::string to_string(Memory kind) { return kind == Memory::CPU_MEM ? "system" : "gpu"; }

std::string to_string(const Grid& grid) {
  std::string out = "Grid(";
  for (size_t i = 0; i < grid.extents.size(); ++i) out += (i > 0 ? ", " : "") + grid.extents[i].to_string();
  out += ")";
  return grid.processor == Processor::GPU ? out + " gpu" : out;
}

std::string to_string(const Machine& machine) {
  std::string out;
  for (size_t i = 0; i < machine.levels.size(); ++i) out += (i > 0 ? " of " : "") + to_string(machine.levels[i]);
  return out;
}

}  // namespace distal::core
