// Checks of statements: elements of an output are compared with their definition. The iterations that define them are
// divided into boxes, so that a task needs few elements of the tensors, whatever their size.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <type_traits>
#include <vector>

#include "data/random.h"
#include "operand.h"

namespace distal_legion {

// The result of a check.
struct Difference {
  double largest = 0;  // relative to the size of the addends
  Int wrong = 0, checked = 0;
};

// The expected value of an element, summed up by a check, and the magnitude of its addends.
template <class T>
struct Expected {
  T value{};
  double size = 0;
  Int addends = 0;

  void add(const T& addend) {
    value = T(value + addend);
    size += static_cast<double>(std::abs(addend));
    ++addends;
  }
  void add(const Expected& part) {
    value = T(value + part.value);
    size += part.size;
    addends += part.addends;
  }
};

// The relative rounding error to allow for a sum of `addends` addends.
template <class T>
double tolerance(Int addends) {
  if constexpr (std::is_integral_v<T>) {
    return 0;
  } else {
    using Real = decltype(std::abs(T()));
    return 4 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * static_cast<double>(addends + 1);
  }
}

template <class T>
void compare(const T& found, const Expected<T>& expected, Difference& out) {
  double off = static_cast<double>(std::abs(T(found - expected.value))), size = expected.size > 0 ? expected.size : 1;
  if (!(off / size <= out.largest)) out.largest = off / size;
  if (!(off / size <= tolerance<T>(expected.addends))) ++out.wrong;
  ++out.checked;
}

// An access of a statement: its tensor, and by dimension the number of its index and what is added to that.
struct IndexAt {
  int index;
  Int offset = 0;
};
struct CheckAccess {
  const Tensor* tensor;
  std::vector<IndexAt> indices;

  // The elements that it uses in a box of iterations.
  Rectangle rectangle(const Rectangle& box) const {
    if (indices.empty()) return {{0}, {1}};  // a scalar
    Rectangle out;
    for (const IndexAt& i : indices) {
      out.lo.push_back(box.lo[static_cast<size_t>(i.index)] + i.offset);
      out.hi.push_back(box.hi[static_cast<size_t>(i.index)] + i.offset);
    }
    return out;
  }
};

// The iterations that define the elements of an output: the extents of all indices, those of the output first; and
// what they access, the output first.
struct CheckSpace {
  Coordinates extents;
  size_t outputs;
  std::vector<CheckAccess> accesses;

  Rectangle all() const { return {Coordinates(extents.size(), 0), extents}; }

  // Whether a box has all addends of its elements.
  bool is_complete(const Rectangle& box) const {
    for (size_t v = outputs; v < extents.size(); ++v) {
      if (box.lo[v] > 0 || box.hi[v] < extents[v]) return false;
    }
    return true;
  }

  Int elements_used(const Rectangle& box) const {
    Int out = 0;
    for (const CheckAccess& a : accesses) out += a.rectangle(box).volume();
    return out;
  }
};

// The result of checking a box. A box that has only a part of the addends belongs to one element.
template <class T>
struct Checked {
  Difference difference;
  T value{};             // of the element
  Expected<T> expected;  // the part of its addends
};

// A box of iterations, and the check of its elements.
template <class T>
struct CheckBox {
  Coordinates lo, hi;
  bool complete;
  Checked<T> out{};

  // To be called with every element of the box, and the sum of the addends that the box has of it.
  void found(const T& value, const Expected<T>& expected) {
    if (complete) return compare(value, expected, out.difference);
    out.value = value;
    out.expected = expected;
  }
};

// The most that a task of a check may take.
struct BoxLimits {
  Int points, elements;
};

// Divides a box until each part is within the limits. The indices of sums are divided last, one element at a time.
inline void divide_box(const CheckSpace& space, const Rectangle& box, const BoxLimits& limits,
                       std::vector<Rectangle>& out) {
  auto extent = [&](size_t v) { return box.hi[v] - box.lo[v]; };
  size_t longest = 0, first_sum = space.outputs;
  if (box.volume() == 0 || (box.volume() <= limits.points && space.elements_used(box) <= limits.elements)) {
    out.push_back(box);
    return;
  }
  for (size_t v = 0; v < first_sum; ++v) {
    if (extent(v) > extent(longest)) longest = v;
  }
  if (first_sum == 0 || extent(longest) == 1) {
    longest = first_sum;
    for (size_t v = first_sum; v < space.extents.size(); ++v) {
      if (extent(v) > extent(longest)) longest = v;
    }
  }
  if (longest == space.extents.size() || extent(longest) == 1) {
    out.push_back(box);  // a point
    return;
  }
  Rectangle first = box, second = box;
  first.hi[longest] = second.lo[longest] = box.lo[longest] + (extent(longest) + 1) / 2;
  divide_box(space, first, limits, out);
  divide_box(space, second, limits, out);
}

// The boxes of at most `samples` elements of the output, its corners among them; 0 samples are all elements.
inline std::vector<Rectangle> boxes_to_check(const CheckSpace& space, Int samples, std::uint64_t seed,
                                             const BoxLimits& limits) {
  Coordinates outputs(space.extents.begin(), space.extents.begin() + static_cast<std::ptrdiff_t>(space.outputs));
  Int elements = volume(outputs);
  std::vector<Rectangle> out;
  if (samples == 0 || elements <= samples) {
    divide_box(space, space.all(), limits, out);
    return out;
  }
  std::set<Int> chosen;
  for_each_point({Coordinates(outputs.size(), 0), Coordinates(outputs.size(), 2)}, [&](Coordinates at) {
    for (size_t d = 0; d < at.size(); ++d) at[d] *= outputs[d] - 1;
    chosen.insert(number_in(outputs, at));
  });
  for (std::uint64_t n = 0; static_cast<Int>(chosen.size()) < samples; ++n) {
    chosen.insert(static_cast<Int>(distal::core::mix_bits(seed + n) % static_cast<std::uint64_t>(elements)));
  }
  for (Int number : chosen) {
    Rectangle box = space.all();
    Coordinates at = point_in(outputs, number);
    for (size_t d = 0; d < at.size(); ++d) box.hi[d] = (box.lo[d] = at[d]) + 1;
    divide_box(space, box, limits, out);
  }
  return out;
}

}  // namespace distal_legion
