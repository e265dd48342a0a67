#pragma once

#include <vector>

#include "lower/placed_nest.h"

namespace distal::core {

// Makes the leaf from the part of the nest below the placed loop at `depth`. `acquires` bring its operands.
Leaf make_leaf(const Nest& nest, const PlacedNest& placed, const std::vector<Acquire>& acquires, int depth);

}  // namespace distal::core
