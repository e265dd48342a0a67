// The parts of tensors that the tasks of a launch use, and how Legion finds them.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "grid.h"
#include "operand.h"

namespace distal_legion {

// Finds a processor's part in the partition of a Chunk. `step` points to the step's Chunk::number.
class StepProjection : public ProjectionFunctor {
 public:
  using ProjectionFunctor::project;
  LogicalRegion project(LogicalPartition partition, const DomainPoint& at, const Domain& points, const void* step,
                        size_t) override {
    Int color = *static_cast<const Int*>(step);
    for (int d = 0; d < points.get_dim(); ++d) {
      color = color * (points.hi()[d] - points.lo()[d] + 1) + at[d] - points.lo()[d];
    }
    return runtime->get_logical_subregion_by_color(partition, DomainPoint(color));
  }
  bool is_functional() const override { return true; }
  unsigned get_depth() const override { return 0; }
};
constexpr ProjectionID kStepProjection = 1000;

// The part of a tensor that a processor uses, by its coordinates and the values of the loops around the launch.
using RectangleOf = std::function<Rectangle(const Coordinates& at, const Coordinates& step)>;

enum class Lifetime { Kept, Transient };

// One partition for many steps. Its colors are numbered step by step, and within a step in the order of the processors.
// Steps with the same parts share their colors.
struct Chunk {
  LogicalPartition partition{};
  std::vector<Int> number;  // by step: its number among the distinct steps
  std::vector<Int> bytes;   // by step: the bytes of all its parts
};

// The parts of a tensor that a launch uses: one per processor and step. Many steps share a partition: Legion compares
// partitions with one another, so there should be few.
struct Parts {
  const Tensor* tensor;
  LaunchDomain domain;
  Coordinates loops;  // the extents of the loops that the parts depend on
  RectangleOf rectangle;
  bool transient;                         // used by one launch only
  bool disjoint;                          // within one step
  mutable std::map<Int, Chunk> chunks{};  // made at their first use
};

struct Use {
  const Parts* parts;
  Coordinates step;
  PrivilegeMode privilege;
};
inline Use read(const Parts& parts, const Coordinates& step = {}) { return {&parts, step, LEGION_READ_ONLY}; }
inline Use write(const Parts& parts, bool overwrites, const Coordinates& step = {}) {
  return {&parts, step, overwrites ? LEGION_WRITE_DISCARD : LEGION_READ_WRITE};
}
inline Use reduce(const Parts& parts, const Coordinates& step = {}) { return {&parts, step, LEGION_REDUCE}; }

}  // namespace distal_legion
