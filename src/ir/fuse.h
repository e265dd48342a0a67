#pragma once

#include "ir/interval.h"

namespace distal::core {

// Two loops as one: fused = outer * extent(inner) + inner.
struct Fuse {
  int outer, inner, fused;

  std::array<int, 2> parents() const { return {outer, inner}; }
  std::array<int, 1> children() const { return {fused}; }
  template <class Renumber>
  Fuse renumbered(Renumber number) const {
    return {number(outer), number(inner), number(fused)};
  }

  template <class Number>
  bool bounds(const std::vector<Number>& extents, std::vector<Interval<Number>>& intervals) const {
    const Interval<Number>& f = intervals[fused];
    if (is_full(f, extents[fused])) {
      intervals[outer] = full(extents[outer]);
      intervals[inner] = full(extents[inner]);
      // The full intervals are exact only if that of the collapsed loop is.
      intervals[outer].exact = intervals[inner].exact = f.exact;
    } else {
      rows_and_columns(f, extents[inner], intervals[outer], intervals[inner]);
    }
    return true;
  }

  void span(const std::vector<int64_t>& extents, std::vector<int64_t>& spans) const {
    bool is_fixed = spans[fused] == 1;
    int64_t rows = is_fixed ? 1 : ceil_div(spans[fused] - 1, extents[inner]) + 1;
    spans[outer] = std::min(extents[outer], rows);
    spans[inner] = is_fixed ? 1 : extents[inner];
  }

  bool recover(const std::vector<int64_t>& extents, std::vector<int64_t>& values) const {
    values[outer] = values[fused] / extents[inner];
    values[inner] = values[fused] % extents[inner];
    return true;
  }

  template <class Text>
  std::vector<std::string> recovery(const Text& name, const Text& extent) const {
    return {fmt::format("const Int {} = {} / {};", name(outer), name(fused), extent(inner)),
            fmt::format("const Int {} = {} % {};", name(inner), name(fused), extent(inner))};
  }

 private:
  // The rows and columns that an interval of a collapsed loop covers. If it covers neither whole rows nor a part of one
  // row, the result is its bounding rectangle, marked as inexact.
  static void rows_and_columns(const Interval<int64_t>& fused, int64_t columns, Interval<int64_t>& outer,
                               Interval<int64_t>& inner) {
    int64_t last = fused.hi - 1;
    outer = {floor_div(fused.lo, columns), floor_div(last, columns) + 1, fused.exact, false};
    if (outer.hi - outer.lo == 1) {
      inner = {floor_mod(fused.lo, columns), floor_mod(last, columns) + 1, fused.exact, false};
      return;
    }
    bool whole_rows = floor_mod(fused.lo, columns) == 0 && floor_mod(fused.hi, columns) == 0;
    inner = {0, columns, fused.exact && whole_rows, false};
    outer.exact = inner.exact;
  }

  static void rows_and_columns(const Interval<IntExpr>& fused, const IntExpr& columns, Interval<IntExpr>& outer,
                               Interval<IntExpr>& inner) {
    outer.lo = floor_div(fused.lo, columns);
    outer.point = inner.point = fused.point;
    outer.exact = inner.exact = fused.exact && fused.point;
    if (fused.point) {
      outer.hi = outer.lo + IntExpr(1);
      inner.lo = floor_mod(fused.lo, columns);
      inner.hi = inner.lo + IntExpr(1);
      return;
    }
    outer.hi = floor_div(fused.hi - IntExpr(1), columns) + IntExpr(1);
    inner.lo = IntExpr(0);
    inner.hi = columns;
  }
};

struct CollapseRelation {
  IndexVar outer, inner, fused;
  bool operator==(const CollapseRelation&) const = default;

  std::vector<IndexVar> parents() const { return {outer, inner}; }
  std::vector<IndexVar> children() const { return {fused}; }
  std::string replaced() const { return fmt::format("collapsed into {}", fused.name); }
  std::string text() const { return fmt::format("collapse({}, {}, {})", outer.name, inner.name, fused.name); }
  template <class Space>
  Fuse add_to(Space& space) const {
    int o = number(space, outer), i = number(space, inner);
    return {o, i, add_variable(space, fused, space.extents[o] * space.extents[i])};
  }
};

}  // namespace distal::core
