#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/iteration_space.h"

namespace distal::core {

// The values lo <= v < hi that a variable takes while some loops are fixed and the others run. `exact` if it takes all
// of them, in every combination with the other variables.
template <class Number>
struct Interval {
  Number lo{};
  Number hi{};
  bool exact = true;
  bool point = false;  // symbols only: holds at most one value. Numbers compare lo and hi instead
};

// All values of a variable.
template <class Number>
Interval<Number> full(const Number& extent) {
  return {Number(0), extent, true, false};
}
// One value of a variable.
template <class Number>
Interval<Number> point(const Number& value) {
  return {value, value + Number(1), true, true};
}

namespace bounds_detail {

inline bool is_point(const Interval<int64_t>& i) { return i.hi - i.lo <= 1; }
inline bool is_point(const Interval<IntExpr>& i) { return i.point; }
inline bool is_full(const Interval<int64_t>& i, int64_t extent) { return i.lo == 0 && i.hi >= extent; }
inline bool is_full(const Interval<IntExpr>& i, const IntExpr& extent) { return i.lo.is_constant(0) && i.hi == extent; }

// parent = outer * size + inner, clipped at the parent's extent.
template <class Number>
Interval<Number> tile(const Interval<Number>& outer, const Number& outer_extent, const Interval<Number>& inner,
                      const Number& size, const Number& extent) {
  using std::min;
  if (is_full(outer, outer_extent) && is_full(inner, size)) {
    Interval<Number> all = full(extent);
    all.exact = outer.exact && inner.exact;
    return all;
  }
  Interval<Number> parent;
  parent.lo = outer.lo * size + inner.lo;
  parent.hi = min(Number((is_point(outer) ? outer.lo : Number(outer.hi - Number(1))) * size + inner.hi), extent);
  parent.exact = outer.exact && inner.exact && (is_point(outer) || is_full(inner, size));
  parent.point = outer.point && inner.point;
  return parent;
}

// The rows and columns that an interval of a collapsed loop covers. If it covers neither whole rows nor a part of one
// row, the result is its bounding rectangle, marked as inexact.
inline void unfuse(const Interval<int64_t>& fused, int64_t inner_extent, Interval<int64_t>& outer,
                   Interval<int64_t>& inner) {
  int64_t last = fused.hi - 1;
  outer = {floor_div(fused.lo, inner_extent), floor_div(last, inner_extent) + 1, fused.exact, false};
  if (outer.hi - outer.lo == 1) {
    inner = {floor_mod(fused.lo, inner_extent), floor_mod(last, inner_extent) + 1, fused.exact, false};
    return;
  }
  bool whole_rows = floor_mod(fused.lo, inner_extent) == 0 && floor_mod(fused.hi, inner_extent) == 0;
  inner = {0, inner_extent, fused.exact && whole_rows, false};
  outer.exact = inner.exact;
}

inline void unfuse(const Interval<IntExpr>& fused, const IntExpr& inner_extent, Interval<IntExpr>& outer,
                   Interval<IntExpr>& inner) {
  outer.lo = floor_div(fused.lo, inner_extent);
  outer.point = inner.point = fused.point;
  outer.exact = inner.exact = fused.exact && fused.point;
  if (fused.point) {
    outer.hi = outer.lo + IntExpr(1);
    inner.lo = floor_mod(fused.lo, inner_extent);
    inner.hi = inner.lo + IntExpr(1);
    return;
  }
  outer.hi = floor_div(fused.hi - IntExpr(1), inner_extent) + IntExpr(1);
  inner.lo = IntExpr(0);
  inner.hi = inner_extent;
}

}  // namespace bounds_detail

// Bounds analysis: computes intervals[v] for every variable of the space from those of the loops (the variables that
// nothing derives from), clipped at every enclosing tile. Returns false if no iteration is left; with symbols it always
// returns true.
template <class Number>
bool bounds(const IterationSpace<Number>& space, std::vector<Interval<Number>>& intervals) {
  using namespace bounds_detail;
  auto empty = [](const Interval<Number>& i) {
    if constexpr (std::is_same_v<Number, int64_t>) {
      return i.lo >= i.hi;
    } else {
      return false;
    }
  };
  for (auto d = space.derivations.rbegin(); d != space.derivations.rend(); ++d) {
    if (const auto* t = std::get_if<Tile>(&*d)) {
      intervals[t->parent] = tile(intervals[t->outer], space.extents[t->outer], intervals[t->inner],
                                  space.extents[t->inner], space.extents[t->parent]);
      if (empty(intervals[t->parent])) return false;
    } else if (const auto* f = std::get_if<Fuse>(&*d)) {
      if (is_full(intervals[f->fused], space.extents[f->fused])) {
        intervals[f->outer] = full(space.extents[f->outer]);
        intervals[f->inner] = full(space.extents[f->inner]);
        // The full intervals are exact only if that of the collapsed loop is.
        intervals[f->outer].exact = intervals[f->inner].exact = intervals[f->fused].exact;
      } else {
        unfuse(intervals[f->fused], space.extents[f->inner], intervals[f->outer], intervals[f->inner]);
      }
    } else if (const auto* r = std::get_if<Rotation>(&*d)) {
      const Interval<Number>& result = intervals[r->result];
      const Number& extent = space.extents[r->target];
      Interval<Number>& target = intervals[r->target];
      bool fixed = is_point(result);
      Number shift = result.lo;
      for (int by : r->by) {
        fixed = fixed && is_point(intervals[by]);
        shift = shift + intervals[by].lo;
      }
      if (fixed) {
        target.lo = floor_mod(shift, extent);
        target.hi = target.lo + Number(1);
        target.exact = result.exact;
        target.point = true;
      } else {
        target = full(extent);
        target.exact = result.exact && is_full(result, extent);
      }
    }
  }
  return true;
}

}  // namespace distal::core
