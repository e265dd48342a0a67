#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lang/index_notation.h"
#include "lang/int_expr.h"
#include "support/checked.h"

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

inline bool is_point(const Interval<int64_t>& i) { return i.hi - i.lo <= 1; }
inline bool is_point(const Interval<IntExpr>& i) { return i.point; }
inline bool is_full(const Interval<int64_t>& i, int64_t extent) { return i.lo == 0 && i.hi >= extent; }
inline bool is_full(const Interval<IntExpr>& i, const IntExpr& extent) { return i.lo.is_constant(0) && i.hi == extent; }
// False for symbols, whose values are not known.
inline bool is_empty(const Interval<int64_t>& i) { return i.lo >= i.hi; }
inline bool is_empty(const Interval<IntExpr>&) { return false; }

// A variable whose recovered value may be past its end: variable = tile * extent(inside) + inside. An iteration with
// such a value does nothing.
struct Clip {
  int variable, tile, inside;
};

}  // namespace distal::core
