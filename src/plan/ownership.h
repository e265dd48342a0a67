#pragma once

#include <vector>

#include "lang/module.h"
#include "plan/machine_shape.h"
#include "plan/rect.h"

namespace distal::core {

// A colour of the paper: a coordinate in every machine dimension that partitions the tensor, and kUncut in the others.
using Colour = Coordinates;
inline constexpr int64_t kUncut = -1;

// A run of consecutive coordinates lo <= x < hi of one dimension that one piece holds side by side.
struct Run {
  int64_t lo = 0;
  int64_t hi = 0;
  int64_t local = 0;  // the coordinate of `lo` inside the piece
};

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

  bool owns_any(int64_t processor) const;
  HomePiece piece_of(int64_t processor) const;  // requires owns_any
  // The rectangles of a piece, each the product of one run per dimension.
  std::vector<Rect> rects_of(int64_t processor) const;

  // Calls f(part, colour) for disjoint parts that together are `rect`. Each part has one colour, and its coordinates
  // belong to one run per dimension. The parts need not be maximal: each lies in one block per dimension.
  template <class F>
  void for_each_part(const Rect& rect, F&& f) const {
    Rect part = rect;
    Colour colour(machine_.extents.size(), kUncut);
    for_each_part_from(0, rect, part, colour, f);
  }

  // The nearest owner of the first element of `rect`, if its piece holds all of `rect` in one run per dimension, so
  // that the rectangle can be used in place there. Otherwise -1.
  int64_t single_owner(const Rect& rect, int64_t processor) const;

 private:
  // A tensor dimension that is partitioned over a machine dimension: blocks of `block` coordinates are dealt out round
  // robin to its `parts` coordinates. A blocked distribution needs one round only.
  struct DimensionPartition {
    int machine_dimension = 0;
    int64_t parts = 1;
    int64_t block = 1;
  };

  int64_t colour_number(size_t dimension, const Coordinates& at) const;
  void build_runs(size_t dimension);

  template <class F>
  void for_each_part_from(size_t d, const Rect& rect, Rect& part, Colour& colour, F& f) const {
    if (d == shape_.size()) {
      f(static_cast<const Rect&>(part), static_cast<const Colour&>(colour));
      return;
    }
    for_each_block(d, 0, rect.lo[d], rect.hi[d], 0, colour, [&](const Run& block) {
      part.lo[d] = block.lo;
      part.hi[d] = block.hi;
      for_each_part_from(d + 1, rect, part, colour, f);
    });
  }

  // Calls f(run) for each block of the coordinates lo..hi of dimension d, with its colour in `colour`. lo and hi are
  // local to a piece of `level`; `shift` added to them gives coordinates of the tensor.
  template <class F>
  void for_each_block(size_t d, size_t level, int64_t lo, int64_t hi, int64_t shift, Colour& colour, F&& f) const {
    if (level == partitions_[d].size()) {
      f(Run{lo + shift, hi + shift, lo});
      return;
    }
    const DimensionPartition& c = partitions_[d][level];
    for (int64_t x = lo; x < hi;) {
      int64_t q = x / c.block;
      int64_t end = std::min(hi, (q + 1) * c.block);
      int64_t local = (q / c.parts) * c.block + x % c.block;
      colour[c.machine_dimension] = q % c.parts;
      for_each_block(d, level + 1, local, local + (end - x), shift + x - local, colour, f);
      x = end;
    }
  }

  Coordinates shape_;
  MachineShape machine_;
  std::vector<std::vector<DimensionPartition>> partitions_;  // one list per tensor dimension, outermost level first
  static constexpr int64_t kBroadcast = -1;
  static constexpr int64_t kPartitions = -2;
  // By machine dimension: kPartitions, kBroadcast, or the face that the tensor is fixed to.
  std::vector<int64_t> faces_;
  std::vector<std::vector<std::vector<Run>>> runs_;  // [dimension][colour number]
};

}  // namespace distal::core
