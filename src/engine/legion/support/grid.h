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

// Calls f with every point, the last dimension fastest.
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

// All of the points of extents, the last dimension counting fastest.
inline Int volume(const Coordinates& extents) { return Rectangle{Coordinates(extents.size(), 0), extents}.volume(); }

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

// A machine: the dimensions of all its levels, the outermost first. A processor is known by its coordinates, or by
// their number, the last one counting fastest.
struct Grid {
  int id = 0;  // of this program's grids
  Coordinates extents;
  bool gpu = false;

  Int processors() const { return volume(extents); }
  Int number(const Coordinates& at) const { return number_in(extents, at); }
};

// The processors that take part: all of a grid, but where it is held at a coordinate.
struct Places {
  const Grid* grid = nullptr;
  Rectangle points;

  explicit Places(const Grid& g, const std::vector<std::pair<int, Int>>& held = {})
      : grid(&g), points{Coordinates(g.extents.size(), 0), g.extents} {
    for (auto [dimension, at] : held) {
      points.lo[dimension] = at;
      points.hi[dimension] = at + 1;
    }
  }
};

// What a dimension of the grid does with a tensor.
struct Role {
  enum Kind { Cut, Fixed, Everywhere } kind;
  int dimension;  // of the tensor, that is cut
  Int block;      // dealt out in blocks of so many; 0: one block a processor
  Int face;       // the coordinate it is fixed at
};
inline Role cut(int dimension) { return {Role::Cut, dimension, 0, 0}; }
inline Role cyclic(int dimension, Int block) { return {Role::Cut, dimension, block, 0}; }
inline Role fixed(Int face) { return {Role::Fixed, 0, 0, face}; }
inline Role everywhere() { return {Role::Everywhere, 0, 0, 0}; }

// One dimension of a tensor while it is cut: what is left of it, as ranges that follow one another. All cuts are of
// full size; what reaches past the end is dropped last.
class Line {
 public:
  explicit Line(Int extent) : extent_(extent), size_(extent), ranges_{{0, extent}} {}

  void take_block(Int parts, Int at) {
    Int block = ceildiv(size_, parts);
    *this = Line(extent_, block, slices(at * block, (at + 1) * block));
  }

  void take_cyclic(Int parts, Int at, Int block) {
    Int rounds = ceildiv(ceildiv(size_, block), parts);
    std::vector<std::pair<Int, Int>> all;
    for (Int round = 0; round < rounds; ++round) {
      Int begin = (round * parts + at) * block;
      for (auto range : slices(begin, begin + block)) all.push_back(range);
    }
    *this = Line(extent_, rounds * block, all);
  }

  std::vector<std::pair<Int, Int>> ranges() const {
    std::vector<std::pair<Int, Int>> out;
    for (auto [lo, hi] : ranges_) {
      if (lo < min(hi, extent_)) out.emplace_back(lo, min(hi, extent_));
    }
    return out;
  }

 private:
  Line(Int extent, Int size, std::vector<std::pair<Int, Int>> ranges)
      : extent_(extent), size_(size), ranges_(std::move(ranges)) {}

  // What lies between two places, counted along the ranges.
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

// Where a tensor lives: the pieces of every processor, and which processor is the first to hold each of them.
class Home {
 public:
  Home() = default;

  // A scalar is a line of one element.
  Home(const Grid& grid, Coordinates shape, const std::vector<Role>& roles) : grid_(&grid) {
    if (shape.empty()) shape.push_back(1);
    nothing_ = {Coordinates(shape.size(), 0), Coordinates(shape.size(), 0)};
    for_each_point(Places(grid).points, [&](const Coordinates& at) {
      bool is_first = true;
      pieces_.push_back(pieces_at(shape, roles, at, is_first));
      is_first_.push_back(is_first);
    });
  }

  const Grid& grid() const { return *grid_; }
  // The n-th piece of a processor; empty where it has no more.
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
    std::vector<Line> lines(shape.begin(), shape.end());
    for (size_t m = 0; m < roles.size(); ++m) {
      const Role& r = roles[m];
      if (r.kind == Role::Fixed && at[m] != r.face) return {};
      if (r.kind == Role::Everywhere && at[m] != 0) is_first = false;
      if (r.kind != Role::Cut) continue;
      if (r.block == 0) {
        lines[r.dimension].take_block(grid_->extents[m], at[m]);
      } else {
        lines[r.dimension].take_cyclic(grid_->extents[m], at[m], r.block);
      }
    }
    return combinations(lines);
  }

  static std::vector<Rectangle> combinations(const std::vector<Line>& lines) {
    std::vector<Rectangle> out{{}};
    for (const Line& line : lines) {
      std::vector<Rectangle> longer;
      for (const Rectangle& r : out) {
        for (auto [lo, hi] : line.ranges()) {
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
  std::vector<bool> is_first_;                  // by processor: of those that hold the same
};

}  // namespace distal_legion
