#pragma once

#include <vector>

#include "lang/block_cyclic.h"
#include "lang/module.h"
#include "plan/machine_shape.h"
#include "plan/rect.h"

namespace distal::core {

// A colour of the paper: a coordinate in every machine dimension that partitions the tensor, and kUncut in the others.
using Colour = Coordinates;
inline constexpr int64_t kUncut = -1;

// What one processor owns of a tensor: the product of the runs of all dimensions, packed into one dense block.
struct HomePiece {
  std::vector<const std::vector<Run>*> runs;  // one list per dimension, owned by the Ownership
  Coordinates extents;                        // of the dense block
  int64_t volume() const;
};

// The meaning of a tensor distribution at given params: which processors own which coordinates.
class Ownership {
 public:
  Ownership(const Tensor& tensor, const Bindings& params);

  const Coordinates& shape() const { return shape_; }
  const MachineShape& machine() const { return machine_; }
  bool has_replicas() const;

  // The paper's P: the colour of a point.
  Colour colour_of(const Coordinates& point) const;
  // The paper's F: the processors that own a colour, in processor order.
  std::vector<int64_t> processors_of(const Colour& colour) const;

  int64_t first_owner(const Colour& colour) const;
  // The owner that has the same coordinates as `processor` in the dimensions over which the tensor is replicated.
  int64_t nearest_owner(const Colour& colour, int64_t processor) const;

  // The first of the processors that own the same elements as `processor`.
  int64_t first_replica(int64_t processor) const;
  bool owns_any(int64_t processor) const;
  HomePiece piece_of(int64_t processor) const;  // requires owns_any
  // The rectangles of a piece, each the product of one run per dimension.
  std::vector<Rect> rects_of(int64_t processor) const;

  // Calls f(part, colour) for disjoint parts that together are `rect`. Each part has one colour, and its coordinates
  // belong to one run per dimension. The parts need not be maximal: each lies in one block per dimension.
  template <class F>
  void for_each_part(const Rect& rect, F&& f) const {
    if (rect.empty()) return;
    Rect part = rect;
    Colour colour(machine_.extents.size(), kUncut);
    for_each_part_from(0, rect, part, colour, f);
  }

  // The nearest owner of the first element of `rect`, if its piece holds all of `rect` in one run per dimension, so
  // that the rectangle can be used in place there. Otherwise -1.
  int64_t single_owner(const Rect& rect, int64_t processor) const;

 private:
  template <class F>
  void for_each_part_from(size_t d, const Rect& rect, Rect& part, Colour& colour, F& f) const {
    if (d == shape_.size()) {
      f(static_cast<const Rect&>(part), static_cast<const Colour&>(colour));
      return;
    }
    dimensions_[d].for_each_block(rect.lo[d], rect.hi[d], colour, [&](const Run& block) {
      part.lo[d] = block.lo;
      part.hi[d] = block.hi;
      for_each_part_from(d + 1, rect, part, colour, f);
    });
  }

  Coordinates shape_;
  MachineShape machine_;
  std::vector<PartitionedDimension> dimensions_;  // by tensor dimension
  static constexpr int64_t kBroadcast = -1;
  static constexpr int64_t kPartitions = -2;
  // By machine dimension: kPartitions, kBroadcast, or the face that the tensor is fixed to.
  std::vector<int64_t> faces_;
};

}  // namespace distal::core
