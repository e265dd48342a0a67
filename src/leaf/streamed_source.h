#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/element_type.h"
#include "program/program.h"

namespace distal::core {

// How an operand goes along an axis: not at all, from one element to the next, or further.
enum class Pace : char { Still, Next, Further };

// A plane of two axes, x the inner one, as far as the code depends on it.
struct PlaneShape {
  std::vector<Pace> x;      // by operand
  std::vector<bool> moves;  // by operand: along y
  bool accumulate = true;
  bool past_cache = false;  // the output is written around the caches: it is larger than they are

  bool operator<(const PlaneShape& other) const;
};

// How many rows run at once: they share what does not move along y and have a sum each, so that no addition waits for
// another. As many streams as memory serves best: where the long rows of a sum are of several operands that move, these
// are enough.
int rows_at_once(bool sums, int64_t moving, bool is_short);

// Addresses, and steps along x and y, by operand.
using PlaneFunction = void(int64_t nx, int64_t ny, void* const* data, const int64_t* step_x, const int64_t* step_y);

// The C++ that carries out the terms on a plane.
std::string plane_source(const std::vector<LeafTerm>& terms, ElementType type, const PlaneShape& shape);

}  // namespace distal::core
