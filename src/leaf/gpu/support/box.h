// The box of points that a leaf computes, as the kernels of sums.h take it. Nothing here depends on Legion.
#pragma once

#include <algorithm>

#include "device.h"
#include "kernel.h"

namespace distal_gpu {

// A generated struct `Leaf` says what is computed at a point:
//   T, C                    the type of the elements, and the one to compute in
//   kOperands               operand 0 is the output
//   kOutputs, kIndices      the indices of the output come first, then those of the sums
//   kInner                  the index along which neighbouring threads have neighbouring elements
//   kReused                 an index of the output that some operands lack, so that a thread loads them once for
//   several
//                           of its values; -1 if there is none
//   kAlongInner, kAlongReused  one bit for each operand: whether it has that index
//   kAdds                   whether the output is added to, or assigned
//   kParams                 how many params the value depends on
//   kHasConditions          whether the value depends on the place of the point
//   value(x, at, param)     the value, given the elements of all operands, the indices and the params
// An index that no tensor has is 0 and has one value.
template <class Leaf>
struct Box {
  using T = typename Leaf::T;

  T* data[Leaf::kOperands];  // the elements at the lowest indices
  Int lowest[Leaf::kIndices], count[Leaf::kIndices];
  Int stride[Leaf::kOperands][Leaf::kIndices];
  Int param[Leaf::kParams + 1] = {};  // a param more, as no array is empty

  // Of one point.
  Box() {
    for (Int& n : lowest) n = 0;
    for (Int& n : count) n = 1;
    for (auto& s : stride) {
      for (Int& n : s) n = 0;
    }
  }
  // `number_of` gives the place of an index among the numbers, -1 for an index that no tensor has. `dimensions` gives,
  // by operand, the indices of its dimensions, then -1.
  template <int MOST>
  Box(const Int* numbers, void* const* all_data, const Int* const* strides, const int (&number_of)[Leaf::kIndices],
      const int (&dimensions)[Leaf::kOperands][MOST], const Int* params) {
    for (int p = 0; p < Leaf::kParams; ++p) param[p] = params[p];
    for (int v = 0; v < Leaf::kIndices; ++v) {
      lowest[v] = number_of[v] < 0 ? 0 : numbers[2 * number_of[v]];
      count[v] = number_of[v] < 0 ? 1 : numbers[2 * number_of[v] + 1];
    }
    for (int o = 0; o < Leaf::kOperands; ++o) {
      data[o] = static_cast<T*>(all_data[o]);
      for (int v = 0; v < Leaf::kIndices; ++v) stride[o][v] = 0;
      for (int d = 0; d < MOST && dimensions[o][d] >= 0; ++d) {
        stride[o][dimensions[o][d]] += strides[o][d];
        data[o] += lowest[dimensions[o][d]] * strides[o][d];
      }
    }
  }

  __host__ __device__ Int outputs() const { return product(0, Leaf::kOutputs); }
  Int sums() const { return product(Leaf::kOutputs, Leaf::kIndices); }
  bool is_empty() const { return outputs() == 0 || sums() == 0; }

  // Makes one index of two where one continues the other in all operands. So rows that lie one behind the other in
  // memory become one long row.
  void fold() {
    for (int inner = Leaf::kIndices - 1; inner >= 0; --inner) {
      for (int outer = 0; outer < Leaf::kIndices; ++outer) {
        if (outer == inner || !continues(outer, inner)) continue;
        if (count[inner] == 1) {
          for (auto& s : stride) s[inner] = s[outer];
        }
        count[inner] *= count[outer];
        count[outer] = 1;
        outer = -1;  // others may continue it now
      }
    }
  }

  // Whether the elements along the inner index can be moved in vectors of 16 bytes.
  bool fits_vectors() const {
    const Int vector = 16 / static_cast<Int>(sizeof(T));
    for (int o = 0; o < Leaf::kOperands; ++o) {
      if ((Leaf::kAlongInner >> o & 1) == 0) continue;
      if (stride[o][Leaf::kInner] != 1 || reinterpret_cast<std::uintptr_t>(data[o]) % 16 != 0) return false;
      for (int v = 0; v < Leaf::kIndices; ++v) {
        if (v != Leaf::kInner && count[v] > 1 && stride[o][v] % vector != 0) return false;
      }
    }
    return count[Leaf::kInner] >= vector;
  }

 private:
  __host__ __device__ Int product(int first, int last) const {
    Int out = 1;
    for (int v = first; v < last; ++v) out *= count[v];
    return out;
  }

  bool continues(int outer, int inner) const {
    if (count[outer] == 1 || (outer < Leaf::kOutputs) != (inner < Leaf::kOutputs)) return false;
    for (int o = 0; o < Leaf::kOperands; ++o) {
      if (count[inner] == 1 ? outer > inner || (lacks(o, inner) && stride[o][outer] != 0)
                            : stride[o][outer] != stride[o][inner] * count[inner]) {
        return false;
      }
    }
    return true;
  }

  // Whether kernels take for granted that the operand does not move along the index.
  static bool lacks(int operand, int index) {
    return (index == Leaf::kInner && (Leaf::kAlongInner >> operand & 1) == 0) ||
           (index == Leaf::kReused && (Leaf::kAlongReused >> operand & 1) == 0);
  }
};

// Splits a number into its remainder by `count`, which is returned, and its quotient. Most counts are 1 or small.
inline __device__ Int take(Int& rest, Int count) {
  if (count == 1) return 0;
  if (rest < count) {
    const Int all = rest;
    rest = 0;
    return all;
  }
  if (rest >> 32 == 0 && count >> 32 == 0) {
    const unsigned r = static_cast<unsigned>(rest), c = static_cast<unsigned>(count);
    rest = r / c;
    return r % c;
  }
  const Int all = rest;
  rest = all / count;
  return all - rest * count;
}

// A point of a box: its place, and those of its elements.
template <class Leaf>
struct Point {
  Int at[Leaf::kIndices] = {};
  Int offset[Leaf::kOperands] = {};

  __device__ void move(const Box<Leaf>& box, int index, Int by) {
    at[index] += by;
#pragma unroll
    for (int o = 0; o < Leaf::kOperands; ++o) offset[o] += by * box.stride[o][index];
  }
  // Moves along the indices from `first` to before `last`, the last one fastest, but not along `without`.
  __device__ void move_to(const Box<Leaf>& box, Int& rest, int first, int last, int without = -1,
                          int without_too = -1) {
#pragma unroll
    for (int v = last - 1; v >= first; --v) {
      if (v != without && v != without_too) move(box, v, take(rest, box.count[v]));
    }
  }
};

}  // namespace distal_gpu
