#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lang/index_notation.h"

namespace distal::core {

// Calls `visit` with positions in the output of a statement, in C order, ascending and distinct. It visits all
// positions if `max_samples` is 0, negative or at least their number. Otherwise it visits `max_samples` of them: the
// corners, and then random ones by the seed. If the left side repeats an index, as in A(i, i), half of the random ones
// are on the diagonal, which they would otherwise miss.
void for_each_position(const Access& output, const std::vector<int64_t>& shape, int64_t max_samples, uint64_t seed,
                       const std::function<void(int64_t)>& visit);

// The coordinates of a position in C order.
void position_to_coordinates(int64_t position, const std::vector<int64_t>& shape, std::vector<int64_t>& coordinates);

}  // namespace distal::core
