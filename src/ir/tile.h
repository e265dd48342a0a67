#pragma once

#include "ir/interval.h"

namespace distal::core {

// A variable in tiles: parent = outer * extent(inner) + inner, where the last tile may be short.
struct Tile {
  int parent, outer, inner;

  std::array<int, 1> parents() const { return {parent}; }
  std::array<int, 2> children() const { return {outer, inner}; }
  Clip clip() const { return {parent, outer, inner}; }
  template <class Renumber>
  Tile renumbered(Renumber number) const {
    return {number(parent), number(outer), number(inner)};
  }

  template <class Number>
  bool bounds(const std::vector<Number>& extents, std::vector<Interval<Number>>& intervals) const {
    using std::min;
    const Interval<Number>&o = intervals[outer], &i = intervals[inner];
    Interval<Number>& p = intervals[parent];
    bool is_inner_full = is_full(i, extents[inner]);
    if (is_inner_full && is_full(o, extents[outer])) {
      p = full(extents[parent]);
    } else {
      p.lo = o.lo * extents[inner] + i.lo;
      Number last = is_point(o) ? o.lo : Number(o.hi - Number(1));
      p.hi = min(Number(last * extents[inner] + i.hi), extents[parent]);
      p.point = o.point && i.point;
      p.exact = is_point(o) || is_inner_full;
    }
    p.exact = p.exact && o.exact && i.exact;
    return !is_empty(p);
  }

  void span(const std::vector<int64_t>& extents, std::vector<int64_t>& spans) const {
    int64_t whole_tiles = checked_mul(spans[outer] - 1, extents[inner]);
    spans[parent] = std::min(extents[parent], checked_add(whole_tiles, spans[inner]));
  }

  bool recover(const std::vector<int64_t>& extents, std::vector<int64_t>& values) const {
    values[parent] = values[outer] * extents[inner] + values[inner];
    return values[parent] < extents[parent];
  }

  template <class Text>
  std::vector<std::string> recovery(const Text& name, const Text& extent) const {
    return {fmt::format("const Int {} = {} * {} + {};", name(parent), name(outer), extent(inner), name(inner))};
  }
};

struct SplitRelation {  // parent = outer * size + inner, inner < size
  IndexVar parent, outer, inner;
  IntExpr size;
  bool operator==(const SplitRelation&) const = default;

  std::vector<IndexVar> parents() const { return {parent}; }
  std::vector<IndexVar> children() const { return {outer, inner}; }
  std::string replaced() const { return fmt::format("split into {} and {}", outer.name, inner.name); }
  std::string text() const {
    return fmt::format("split({}, {}, {}, {})", parent.name, outer.name, inner.name, size.to_string());
  }
  template <class Space>
  Tile add_to(Space& space) const {
    int p = number(space, parent);
    IntExpr tiles = ceil_div(space.extents[p], size);
    return {p, add_variable(space, outer, tiles), add_variable(space, inner, size)};
  }
};

struct DivideRelation {  // parent = outer * ceildiv(extent(parent), parts) + inner, outer < parts
  IndexVar parent, outer, inner;
  IntExpr parts;
  bool operator==(const DivideRelation&) const = default;

  std::vector<IndexVar> parents() const { return {parent}; }
  std::vector<IndexVar> children() const { return {outer, inner}; }
  std::string replaced() const { return fmt::format("divided into {} and {}", outer.name, inner.name); }
  std::string text() const {
    return fmt::format("divide({}, {}, {}, {})", parent.name, outer.name, inner.name, parts.to_string());
  }
  template <class Space>
  Tile add_to(Space& space) const {
    int p = number(space, parent);
    IntExpr size = ceil_div(space.extents[p], parts);
    return {p, add_variable(space, outer, parts), add_variable(space, inner, size)};
  }
};

}  // namespace distal::core
