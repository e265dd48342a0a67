#pragma once

#include "ir/interval.h"

namespace distal::core {

// A loop that starts elsewhere for each value of other loops: target = (result + sum of by) mod extent(target).
struct Rotation {
  int target;
  std::vector<int> by;
  int result;

  std::array<int, 1> parents() const { return {target}; }
  std::array<int, 1> children() const { return {result}; }
  const std::vector<int>& shifts() const { return by; }
  template <class Renumber>
  Rotation renumbered(Renumber number) const {
    Rotation out{number(target), {}, number(result)};
    for (int v : by) out.by.push_back(number(v));
    return out;
  }
  template <class Ignored>
  Rotation without_shifts(Ignored ignored) const {
    Rotation out = *this;
    std::erase_if(out.by, ignored);
    return out;
  }

  template <class Number>
  bool bounds(const std::vector<Number>& extents, std::vector<Interval<Number>>& intervals) const {
    const Interval<Number>& r = intervals[result];
    const Number& extent = extents[target];
    bool fixed = is_point(r);
    Number shift = r.lo;
    for (int v : by) {
      fixed = fixed && is_point(intervals[v]);
      shift = shift + intervals[v].lo;
    }
    if (fixed) {
      intervals[target] = point(Number(floor_mod(shift, extent)));
      intervals[target].exact = r.exact;
    } else {
      intervals[target] = full(extent);
      intervals[target].exact = r.exact && is_full(r, extent);
    }
    return true;
  }

  void span(const std::vector<int64_t>& extents, std::vector<int64_t>& spans) const {
    bool is_fixed = spans[result] == 1 && std::all_of(by.begin(), by.end(), [&](int v) { return spans[v] == 1; });
    spans[target] = is_fixed ? 1 : extents[target];
  }

  bool recover(const std::vector<int64_t>& extents, std::vector<int64_t>& values) const {
    int64_t sum = values[result];
    for (int v : by) sum += values[v];
    values[target] = sum % extents[target];
    return true;
  }

  template <class Text>
  std::vector<std::string> recovery(const Text& name, const Text& extent) const {
    std::string sum = name(result);
    for (int v : by) sum += " + " + name(v);
    return {fmt::format("const Int {} = ({}) % {};", name(target), sum, extent(target))};
  }
};

struct RotateRelation {
  IndexVar target;
  std::vector<IndexVar> by;
  IndexVar result;
  bool operator==(const RotateRelation&) const = default;

  std::vector<IndexVar> parents() const { return {target}; }
  std::vector<IndexVar> children() const { return {result}; }
  std::string replaced() const { return fmt::format("rotated into {}", result.name); }
  std::string text() const { return fmt::format("rotate({}, {}, {})", target.name, to_string(by), result.name); }
  template <class Space>
  Rotation add_to(Space& space) const {
    Rotation out{number(space, target), {}, 0};
    for (const IndexVar& v : by) out.by.push_back(number(space, v));
    out.result = add_variable(space, result, space.extents[out.target]);
    return out;
  }
};

}  // namespace distal::core
