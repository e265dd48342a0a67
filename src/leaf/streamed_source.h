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

  // As many rows run at once: they share what does not move along y, have a sum each, so that no addition waits for
  // another, and are as many streams as memory serves best.
  int rows() const;

  bool operator<(const PlaneShape& other) const;
};

// Addresses, and steps along x and y, by operand.
using PlaneFunction = void(int64_t nx, int64_t ny, void* const* data, const int64_t* step_x, const int64_t* step_y);

// The C++ that carries out the terms on a plane.
std::string plane_source(const std::vector<LeafTerm>& terms, ElementType type, const PlaneShape& shape);

}  // namespace distal::core
