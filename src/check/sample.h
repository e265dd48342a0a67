#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lang/index_notation.h"

namespace distal::core {

// Calls `visit` with places in the output of a statement, as positions in C order, ascending and without repeats: all
// of them if `max_samples` is 0, less or enough for all, otherwise that many by the seed, the corners first of all. A
// left side that repeats an index, A(i, i), gets half of the random ones on its diagonal, which would else be missed.
void for_each_place(const Access& output, const std::vector<int64_t>& shape, int64_t max_samples, uint64_t seed,
                    const std::function<void(int64_t)>& visit);

// The coordinates of a position in C order.
void place_to_coordinates(int64_t place, const std::vector<int64_t>& shape, std::vector<int64_t>& coordinates);

}  // namespace distal::core
