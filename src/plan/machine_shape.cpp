#include "plan/machine_shape.h"

#include <fmt/format.h>

#include "lang/same_machine.h"

namespace distal::core {

Coordinates MachineShape::coordinates(int64_t processor) const {
  Coordinates at(extents.size());
  for (size_t d = extents.size(); d-- > 0;) {
    at[d] = processor % extents[d];
    processor /= extents[d];
  }
  return at;
}

int64_t MachineShape::processor(const Coordinates& at) const {
  int64_t p = 0;
  for (size_t d = 0; d < extents.size(); ++d) p = p * extents[d] + at[d];
  return p;
}

int MachineShape::crossed_level(int64_t a, int64_t b) const {
  for (int l = 1; l <= levels(); ++l) {
    if (a / group_size[l] != b / group_size[l]) return l - 1;
  }
  return levels() - 1;
}

int64_t MachineShape::distance(int64_t a, int64_t b) const {
  int64_t sum = 0;
  for (size_t d = extents.size(); d-- > 0;) {
    int64_t apart = std::abs(a % extents[d] - b % extents[d]);
    sum += std::min(apart, extents[d] - apart);
    a /= extents[d];
    b /= extents[d];
  }
  return sum;
}

std::string MachineShape::processor_name(int64_t processor) const {
  Coordinates at = coordinates(processor);
  std::string out = "(";
  for (size_t d = 0; d < at.size(); ++d) {
    if (d > 0) out += level[d] != level[d - 1] ? " | " : ", ";
    out += std::to_string(at[d]);
  }
  return out + ")";
}

MachineShape shape_of(const Machine& machine, const Bindings& params) {
  MachineShape shape;
  for (size_t l = 0; l < machine.levels.size(); ++l) {
    shape.first.push_back(static_cast<int>(shape.extents.size()));
    for (const IntExpr& e : machine.levels[l].extents) {
      int64_t extent = e.evaluate(params);
      if (extent < 1) throw Error(fmt::format("a grid extent is {}, and must be at least 1", extent), e.span());
      shape.extents.push_back(extent);
      shape.level.push_back(static_cast<int>(l));
    }
  }
  refuse_too_many_processors(machine, shape.extents);
  for (int64_t extent : shape.extents) shape.processors *= extent;
  shape.available = machine.processors ? machine.processors->evaluate(params) : shape.processors;
  shape.group_size.assign(machine.levels.size() + 1, 1);
  for (size_t l = machine.levels.size(); l-- > 0;) {
    shape.group_size[l] = shape.group_size[l + 1];
    for (size_t d = 0; d < shape.extents.size(); ++d) {
      if (shape.level[d] == static_cast<int>(l)) shape.group_size[l] *= shape.extents[d];
    }
  }
  return shape;
}

}  // namespace distal::core
