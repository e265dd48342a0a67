#pragma once

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

  bool operator==(const Machine&) const = default;
};

// The most processors that a machine may have.
inline constexpr int64_t kMaxProcessors = int64_t{1} << 24;

std::string to_string(Processor kind);
std::string to_string(Memory kind);
std::string to_string(const Grid& grid);        // "Grid(gx, gy)", " gpu" after it for a level of GPUs
std::string to_string(const Machine& machine);  // "Grid(2, 2) of Grid(4)"

}  // namespace distal::core
