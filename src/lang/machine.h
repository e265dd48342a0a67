#pragma once

#include <optional>
#include <string>
#include <vector>

#include "distal/kinds.h"
#include "lang/int_expr.h"

namespace distal::core {

// One level of a machine: a grid of abstract processors of one kind.
struct Grid {
  std::vector<IntExpr> extents;
  Processor processor = Processor::CPU;
  SourceSpan span;

  bool operator==(const Grid&) const = default;
};

// A machine: a grid whose every processor may itself be a grid. Level 0 is the outermost; only the processors
// of the last level run code and own data.
struct Machine {
  std::string name;
  std::vector<Grid> levels;
  SourceSpan span;
  // Of `64 processors`: how many there are. The grid may be smaller; processors outside of it idle.
  std::optional<IntExpr> processors{};
  // The grid was left out and is to be found. Until then it is Grid(processors).
  bool is_free = false;

  bool operator==(const Machine&) const = default;
};

// `count` processors of one kind, with a grid that is to be found.
Machine free_machine(IntExpr count, Processor kind);
// How many processors there are, also of those that idle.
IntExpr processor_count(const Machine& machine);
// The kind of the processors that run code: those of the last level.
Processor kind_of(const Machine& machine);

// The most processors that a machine may have.
inline constexpr int64_t kMaxProcessors = int64_t{1} << 24;

std::string to_string(Processor kind);
std::string to_string(Memory kind);
std::string to_string(const Grid& grid);  // "Grid(gx, gy)", " gpu" after it for a level of GPUs
// "Grid(2, 2) of Grid(4)", "64 processors gpu", "64 processors as (Grid(7) of Grid(9)) gpu"
std::string to_string(const Machine& machine);

}  // namespace distal::core
