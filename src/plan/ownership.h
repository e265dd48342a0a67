#pragma once

#include <vector>

#include "lang/module.h"
#include "plan/machine_shape.h"
#include "plan/rect.h"

namespace distal::core {

// A colour of the paper: a coordinate in every machine dimension that cuts the tensor, and kUncut in the others.
using Colour = Coordinates;
inline constexpr int64_t kUncut = -1;

// A run of consecutive coordinates of one dimension that lie in one piece, and where the piece stores the first.
struct Run {
  int64_t lo = 0;
  int64_t hi = 0;
  int64_t local = 0;
};

// What one processor owns of a tensor: the product of its runs, packed into one dense block.
struct HomePiece {
  std::vector<const std::vector<Run>*> runs;  // one list a dimension
  Coordinates extents;                        // of the dense block
  int64_t volume() const;
};

// The meaning of tensor distribution notation at given sizes: which processors own which coordinates.
class Ownership {
 public:
  Ownership(const Tensor& tensor, const Bindings& params);

  const Coordinates& shape() const { return shape_; }
  const MachineShape& machine() const { return machine_; }
  bool has_replicas() const;

  // P: the colour of a coordinate, and F: the processors that hold a colour, in processor order.
  Colour colour_of(const Coordinates& point) const;
  std::vector<int64_t> processors_of(const Colour& colour) const;

  int64_t first_owner(const Colour& colour) const;
  // The owner nearest to a processor of the machine `on`: in broadcast dimensions, the one beside it.
  int64_t nearest_owner(const Colour& colour, int64_t processor) const;

  bool owns_any(int64_t processor) const;
  HomePiece piece_of(int64_t processor) const;  // only of processors that own any
  // The rectangles of a piece, each the product of one run a dimension.
  std::vector<Rect> rects_of(int64_t processor) const;

  // Calls f(part, colour) for the maximal parts of `rect` that have one colour and lie in one run of its piece.
  template <class F>
  void cut(const Rect& rect, F&& f) const {
    Rect part = rect;
    Colour colour(machine_.extents.size(), kUncut);
    cut_dimension(0, rect, part, colour, f);
  }

  // The processor among the owners nearest to `processor` whose piece holds all of `rect` in one run a dimension, so
  // that it can be used where it lies; -1 if there is none.
  int64_t single_owner(const Rect& rect, int64_t processor) const;

 private:
  // A machine dimension that cuts a tensor dimension: blocks of `block` coordinates are dealt out in turn. A blocked
  // distribution is the case in which the first turn is the last.
  struct Cut {
    int machine_dimension = 0;
    int64_t parts = 1;
    int64_t block = 1;
  };
  struct Segment {
    int64_t lo, hi, local;
  };

  int64_t colour_number(size_t dimension, const Coordinates& at) const;
  void build_runs(size_t dimension);

  template <class F>
  void cut_dimension(size_t d, const Rect& rect, Rect& part, Colour& colour, F& f) const {
    if (d == shape_.size()) {
      f(static_cast<const Rect&>(part), static_cast<const Colour&>(colour));
      return;
    }
    segments(d, 0, rect.lo[d], rect.hi[d], 0, colour, [&](const Segment& s) {
      part.lo[d] = s.lo;
      part.hi[d] = s.hi;
      cut_dimension(d + 1, rect, part, colour, f);
    });
  }

  // Follows the coordinates lo..hi of a dimension, local to a level, down the levels that cut it.
  template <class F>
  void segments(size_t d, size_t level, int64_t lo, int64_t hi, int64_t shift, Colour& colour, F&& f) const {
    if (level == cuts_[d].size()) {
      f(Segment{lo + shift, hi + shift, lo});
      return;
    }
    const Cut& c = cuts_[d][level];
    for (int64_t x = lo; x < hi;) {
      int64_t q = x / c.block;
      int64_t end = std::min(hi, (q + 1) * c.block);
      int64_t local = (q / c.parts) * c.block + x % c.block;
      colour[c.machine_dimension] = q % c.parts;
      segments(d, level + 1, local, local + (end - x), shift + x - local, colour, f);
      x = end;
    }
  }

  Coordinates shape_;
  MachineShape machine_;
  std::vector<std::vector<Cut>> cuts_;  // one list a tensor dimension, outermost level first
  // For a machine dimension that does not cut: the face it fixes the tensor to, or kBroadcast. Cutting ones: kCuts.
  static constexpr int64_t kBroadcast = -1;
  static constexpr int64_t kCuts = -2;
  std::vector<int64_t> faces_;
  std::vector<std::vector<std::vector<Run>>> runs_;  // [dimension][colour number]
};

}  // namespace distal::core
