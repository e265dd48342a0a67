#include "tune/find_grid.h"

namespace distal::core {

Machine give_grid(Module& module, const Machine& free, const std::vector<Grid>& levels) {
  Machine line{"", free.levels, {}}, machine = free;
  machine.is_free = false;
  machine.levels = levels;
  for (Grid& level : machine.levels) level.processor = kind_of(free);
  for (Machine& declared : module.machines) {
    if (declared.name == free.name) declared = machine;
  }
  for (Tensor& tensor : module.tensors) {
    if (tensor.machine && tensor.machine->name == free.name) tensor.machine = tensor.distribution ? line : machine;
  }
  return machine;
}

bool takes_as_line(const Module& module, const Machine& machine) {
  for (const ScheduledStatement& scheduled : module.statements) {
    for (const Command& command : scheduled.schedule) {
      const GridRef* onto = onto_of(command);
      if (onto != nullptr && onto->name.text == machine.name) return true;
    }
  }
  return false;
}

}  // namespace distal::core
