#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/machine.h"
#include "plan/rect.h"

namespace distal::core {

// A machine with numbers for extents. The dimensions of all levels stand in one row, outermost level first; processors
// are numbered in row-major order, so the processors of one upper-level processor are neighbours in number.
struct MachineShape {
  std::vector<int64_t> extents;  // of all dimensions of all levels
  std::vector<int> level;        // the level of each dimension
  std::vector<int> first;        // the first dimension of each level
  std::vector<int64_t> group;    // group[l]: last-level processors in one processor of level l - 1; group[0] is all
  int64_t processors = 1;

  int levels() const { return static_cast<int>(first.size()); }
  int dimension(int level_number, int dimension_in_level) const { return first[level_number] + dimension_in_level; }
  Coordinates coordinates(int64_t processor) const;
  int64_t processor(const Coordinates& coordinates) const;
  // The first processor of the part of the machine that `processor` belongs to when `levels_fixed` levels stand still.
  int64_t leader(int64_t processor, int levels_fixed) const { return processor - processor % group[levels_fixed]; }
  // The outermost level at which two processors differ: the level that a message between them crosses.
  int crossed_level(int64_t a, int64_t b) const;
  // How far two processors are apart on the torus of the grid.
  int64_t distance(int64_t a, int64_t b) const;
  std::string processor_name(int64_t processor) const;  // "(0, 1)", "(0, 1 | 3)" in a hierarchy
};

MachineShape shape_of(const Machine& machine, const Bindings& params);

}  // namespace distal::core
