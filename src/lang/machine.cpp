#include "lang/machine.h"

namespace distal::core {

std::string to_string(Processor kind) { return kind == Processor::CPU ? "cpu" : "gpu"; }

std::string to_string(Memory kind) { return kind == Memory::CPU_MEM ? "cpu" : "gpu"; }

std::string to_string(const Grid& grid) {
  std::string out = "Grid(";
  for (size_t i = 0; i < grid.extents.size(); ++i) out += (i > 0 ? ", " : "") + grid.extents[i].to_string();
  out += ")";
  return grid.processor == Processor::GPU ? out + " gpu" : out;
}

namespace {

std::string levels_text(const std::vector<Grid>& levels) {
  std::string out;
  for (size_t i = 0; i < levels.size(); ++i) out += (i > 0 ? " of " : "") + to_string(levels[i]);
  return out;
}

// Whether the text of the expression ends where the word behind it begins, and not inside it.
std::string count_text(const IntExpr& count) {
  bool is_atom = count.is_constant() || count.kind() == IntExpr::Kind::Name;
  return is_atom ? count.to_string() : "(" + count.to_string() + ")";
}

}  // namespace

Machine free_machine(IntExpr count, Processor kind) {
  Machine machine{"", {Grid{{count}, kind, count.span()}}, count.span()};
  machine.processors = std::move(count);
  machine.is_free = true;
  return machine;
}

IntExpr processor_count(const Machine& machine) {
  if (machine.processors) return *machine.processors;
  IntExpr count(1);
  for (const Grid& grid : machine.levels) {
    for (const IntExpr& extent : grid.extents) count = count * extent;
  }
  return count;
}

Processor kind_of(const Machine& machine) {
  return machine.levels.empty() ? Processor::CPU : machine.levels.back().processor;
}

std::string to_string(const Machine& machine) {
  if (!machine.processors) return levels_text(machine.levels);
  std::string kind = kind_of(machine) == Processor::GPU ? " gpu" : "";
  std::string out = count_text(*machine.processors) + " processors";
  if (machine.is_free) return out + kind;
  std::vector<Grid> levels = machine.levels;
  levels.back().processor = Processor::CPU;  // its kind stands at the end
  bool several = levels.size() > 1;
  return out + " as " + (several ? "(" + levels_text(levels) + ")" : levels_text(levels)) + kind;
}

}  // namespace distal::core
