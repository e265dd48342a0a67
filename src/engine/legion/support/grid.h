// Grids of processors, rectangles of tensors, and where a tensor lives. Nothing here knows Legion.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "lang/block_cyclic.h"

namespace distal_legion {

using Int = std::int64_t;
using Coordinates = std::vector<Int>;

inline Int floordiv(Int a, Int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
inline Int ceildiv(Int a, Int b) { return floordiv(a + b - 1, b); }
inline Int mod(Int a, Int b) { return a - floordiv(a, b) * b; }
inline Int min(Int a, Int b) { return a < b ? a : b; }
inline Int max(Int a, Int b) { return a < b ? b : a; }

// lo <= x < hi in every dimension.
struct Rectangle {
  Coordinates lo, hi;

  Int volume() const {
    Int out = 1;
    for (size_t d = 0; d < lo.size(); ++d) out *= max(0, hi[d] - lo[d]);
    return out;
  }
};

inline bool operator<(const Rectangle& a, const Rectangle& b) { return std::tie(a.lo, a.hi) < std::tie(b.lo, b.hi); }

// Calls f with every point; the last dimension varies fastest.
template <class F>
void for_each_point(const Rectangle& all, const F& f) {
  if (all.volume() == 0) return;
  Coordinates at = all.lo;
  for (;;) {
    f(at);
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == all.hi[d - 1]) {
      at[d - 1] = all.lo[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

// The number of points in extents.
inline Int volume(const Coordinates& extents) { return Rectangle{Coordinates(extents.size(), 0), extents}.volume(); }

// The number of a point in extents, and the point of a number. The last dimension varies fastest.
inline Int number_in(const Coordinates& extents, const Coordinates& at) {
  Int out = 0;
  for (size_t d = 0; d < extents.size(); ++d) out = out * extents[d] + at[d];
  return out;
}

inline Coordinates point_in(const Coordinates& extents, Int number) {
  Coordinates out(extents.size());
  for (size_t d = extents.size(); d-- > 0; number /= extents[d]) out[d] = number % extents[d];
  return out;
}

// A machine: the dimensions of all its levels, the outermost first. A processor is identified by its coordinates or by
// their number; the last coordinate varies fastest.
struct Grid {
  int id = 0;  // among this program's grids
  Coordinates extents;
  bool gpu = false;

  Int processors() const { return volume(extents); }
  Int number(const Coordinates& at) const { return number_in(extents, at); }
};

// The processors that take part in a launch: the whole grid, but for the dimensions that are held at one coordinate.
struct LaunchDomain {
  const Grid* grid = nullptr;
  Rectangle points;

  explicit LaunchDomain(const Grid& g, const std::vector<std::pair<int, Int>>& held = {})
      : grid(&g), points{Coordinates(g.extents.size(), 0), g.extents} {
    for (auto [dimension, at] : held) {
      points.lo[dimension] = at;
      points.hi[dimension] = at + 1;
    }
  }
};

// How one dimension of the grid distributes a tensor.
struct Role {
  enum Kind { Partitioned, Fixed, Replicated } kind;
  int dimension;             // the tensor dimension that is partitioned
  std::optional<Int> block;  // block-cyclic with this block size; none: one block per processor
  Int face;                  // the coordinate the tensor is fixed at
};
inline Role blocked(int dimension) { return {Role::Partitioned, dimension, std::nullopt, 0}; }
inline Role cyclic(int dimension, Int block) { return {Role::Partitioned, dimension, block, 0}; }
inline Role fixed(Int face) { return {Role::Fixed, 0, std::nullopt, face}; }
inline Role replicated() { return {Role::Replicated, 0, std::nullopt, 0}; }

// Where a tensor lives: the pieces of every processor, and which processor holds the first replica of each.
class Home {
 public:
  Home() = default;

  // A scalar is a region with one dimension and one element.
  Home(const Grid& grid, Coordinates shape, const std::vector<Role>& roles) : grid_(&grid) {
    if (shape.empty()) shape.push_back(1);
    nothing_ = {Coordinates(shape.size(), 0), Coordinates(shape.size(), 0)};
    std::vector<std::vector<distal::core::DimensionCut>> cuts(shape.size());
    for (size_t m = 0; m < roles.size(); ++m) {
      const Role& r = roles[m];
      if (r.kind == Role::Partitioned) cuts[r.dimension].push_back({static_cast<int>(m), grid.extents[m], r.block});
    }
    Dimensions dimensions;
    for (size_t d = 0; d < shape.size(); ++d) dimensions.emplace_back(shape[d], cuts[d]);
    for_each_point(LaunchDomain(grid).points, [&](const Coordinates& at) {
      bool lives_here = true, is_first = true;
      for (size_t m = 0; m < roles.size(); ++m) {
        if (roles[m].kind == Role::Fixed && at[m] != roles[m].face) lives_here = false;
        if (roles[m].kind == Role::Replicated && at[m] != 0) is_first = false;
      }
      pieces_.push_back(lives_here ? pieces_at(dimensions, at) : std::vector<Rectangle>{});
      is_first_.push_back(is_first);
    });
  }

  const Grid& grid() const { return *grid_; }
  // The n-th piece of a processor, empty if it has fewer; with first_only also empty if it is not the first replica.
  Rectangle piece(const Coordinates& at, size_t n, bool first_only) const {
    auto processor = static_cast<size_t>(grid_->number(at));
    const auto& all = pieces_[processor];
    return n < all.size() && (is_first_[processor] || !first_only) ? all[n] : nothing_;
  }
  size_t most_pieces() const {
    size_t out = 0;
    for (const auto& p : pieces_) out = std::max(out, p.size());
    return out;
  }

 private:
  using Dimensions = std::vector<distal::core::PartitionedDimension>;

  static std::vector<Rectangle> pieces_at(const Dimensions& dimensions, const Coordinates& at) {
    std::vector<Rectangle> out{{}};
    for (const auto& dimension : dimensions) {
      std::vector<Rectangle> longer;
      for (const Rectangle& r : out) {
        for (const auto& run : dimension.runs_at(at)) {
          longer.push_back(r);
          longer.back().lo.push_back(run.lo);
          longer.back().hi.push_back(run.hi);
        }
      }
      out = std::move(longer);
    }
    return out;
  }

  const Grid* grid_ = nullptr;
  Rectangle nothing_;
  std::vector<std::vector<Rectangle>> pieces_;  // by processor
  std::vector<bool> is_first_;                  // by processor: it holds the first replica of its pieces
};

}  // namespace distal_legion
