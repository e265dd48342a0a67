// Grids of processors, rectangles of tensors, and where a tensor lives. Nothing here knows Legion.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

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
  int dimension;  // the tensor dimension that is partitioned
  Int block;      // block-cyclic with this block size; 0: one block per processor
  Int face;       // the coordinate the tensor is fixed at
};
inline Role blocked(int dimension) { return {Role::Partitioned, dimension, 0, 0}; }
inline Role cyclic(int dimension, Int block) { return {Role::Partitioned, dimension, block, 0}; }
inline Role fixed(Int face) { return {Role::Fixed, 0, 0, face}; }
inline Role replicated() { return {Role::Replicated, 0, 0, 0}; }

// The ranges of one tensor dimension that a processor owns, narrowed by one grid dimension after the other. Each step
// assumes full-sized blocks; ranges() drops what lies past the end.
class OwnedRanges {
 public:
  explicit OwnedRanges(Int extent) : extent_(extent), size_(extent), ranges_{{0, extent}} {}

  void take_block(Int parts, Int at) {
    Int block = ceildiv(size_, parts);
    *this = OwnedRanges(extent_, block, slices(at * block, (at + 1) * block));
  }

  void take_cyclic(Int parts, Int at, Int block) {
    Int rounds = ceildiv(ceildiv(size_, block), parts);
    std::vector<std::pair<Int, Int>> all;
    for (Int round = 0; round < rounds; ++round) {
      Int begin = (round * parts + at) * block;
      for (auto range : slices(begin, begin + block)) all.push_back(range);
    }
    *this = OwnedRanges(extent_, rounds * block, all);
  }

  std::vector<std::pair<Int, Int>> ranges() const {
    std::vector<std::pair<Int, Int>> out;
    for (auto [lo, hi] : ranges_) {
      if (lo < min(hi, extent_)) out.emplace_back(lo, min(hi, extent_));
    }
    return out;
  }

 private:
  OwnedRanges(Int extent, Int size, std::vector<std::pair<Int, Int>> ranges)
      : extent_(extent), size_(size), ranges_(std::move(ranges)) {}

  // The elements from number `begin` to `end`, counted along the ranges.
  std::vector<std::pair<Int, Int>> slices(Int begin, Int end) const {
    std::vector<std::pair<Int, Int>> out;
    Int at = 0;
    for (auto [lo, hi] : ranges_) {
      Int from = max(begin - at, 0), to = min(end - at, hi - lo);
      if (from < to) out.emplace_back(lo + from, lo + to);
      at += hi - lo;
    }
    return out;
  }

  Int extent_, size_;
  std::vector<std::pair<Int, Int>> ranges_;
};

// Where a tensor lives: the pieces of every processor, and which processor holds the first replica of each.
class Home {
 public:
  Home() = default;

  // A scalar is a region with one dimension and one element.
  Home(const Grid& grid, Coordinates shape, const std::vector<Role>& roles) : grid_(&grid) {
    if (shape.empty()) shape.push_back(1);
    nothing_ = {Coordinates(shape.size(), 0), Coordinates(shape.size(), 0)};
    for_each_point(LaunchDomain(grid).points, [&](const Coordinates& at) {
      bool is_first = true;
      pieces_.push_back(pieces_at(shape, roles, at, is_first));
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
  std::vector<Rectangle> pieces_at(const Coordinates& shape, const std::vector<Role>& roles, const Coordinates& at,
                                   bool& is_first) const {
    std::vector<OwnedRanges> owned(shape.begin(), shape.end());
    for (size_t m = 0; m < roles.size(); ++m) {
      const Role& r = roles[m];
      if (r.kind == Role::Fixed && at[m] != r.face) return {};
      if (r.kind == Role::Replicated && at[m] != 0) is_first = false;
      if (r.kind != Role::Partitioned) continue;
      if (r.block == 0) {
        owned[r.dimension].take_block(grid_->extents[m], at[m]);
      } else {
        owned[r.dimension].take_cyclic(grid_->extents[m], at[m], r.block);
      }
    }
    return combinations(owned);
  }

  static std::vector<Rectangle> combinations(const std::vector<OwnedRanges>& owned) {
    std::vector<Rectangle> out{{}};
    for (const OwnedRanges& one : owned) {
      std::vector<Rectangle> longer;
      for (const Rectangle& r : out) {
        for (auto [lo, hi] : one.ranges()) {
          longer.push_back(r);
          longer.back().lo.push_back(lo);
          longer.back().hi.push_back(hi);
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
