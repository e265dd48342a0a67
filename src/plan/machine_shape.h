#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/machine.h"
#include "plan/rect.h"

namespace distal::core {

// A machine at given params. The dimensions of all levels form one list, outermost level first. Processors are numbered
// in row-major order, so those of one upper-level processor have consecutive numbers.
struct MachineShape {
  std::vector<int64_t> extents;  // of all dimensions of all levels
  std::vector<int> level;        // the level of each dimension
  std::vector<int> first;        // the first dimension of each level
  // group_size[l]: how many last-level processors share the coordinates of the l outermost levels. group_size[0]: all.
  std::vector<int64_t> group_size;
  int64_t processors = 1;
  // The processors of the grid and those outside of it, which idle and have the highest numbers.
  int64_t available = 1;

  int levels() const { return static_cast<int>(first.size()); }
  int dimension(int level_number, int dimension_in_level) const { return first[level_number] + dimension_in_level; }
  Coordinates coordinates(int64_t processor) const;
  int64_t processor(const Coordinates& coordinates) const;
  // The first of the processors that share the coordinates of the outermost `shared_levels` levels with `processor`.
  int64_t leader(int64_t processor, int shared_levels) const {
    return processor - processor % group_size[shared_levels];
  }
  // The outermost level at which two processors differ: the level that a message between them crosses.
  int crossed_level(int64_t a, int64_t b) const;
  // The distance of two processors on the torus of the grid, in hops.
  int64_t distance(int64_t a, int64_t b) const;
  std::string processor_name(int64_t processor) const;  // "(0, 1)", "(0, 1 | 3)" in a hierarchy
};

MachineShape shape_of(const Machine& machine, const Bindings& params);

}  // namespace distal::core
