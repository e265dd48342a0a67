#pragma once

#include <string>
#include <vector>

#include "lang/int_expr.h"

namespace distal::core {

enum class ProcessorKind { Cpu, Gpu };
enum class MemoryKind { System, Gpu };

// One level of a machine: a grid of abstract processors of one kind.
struct Grid {
  std::vector<IntExpr> extents;
  ProcessorKind processor = ProcessorKind::Cpu;
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

std::string to_string(ProcessorKind kind);
std::string to_string(MemoryKind kind);
std::string to_string(const Grid& grid);        // "Grid(gx, gy)", " gpu" after it for a level of GPUs
std::string to_string(const Machine& machine);  // "Grid(2, 2) of Grid(4)"

}  // namespace distal::core
