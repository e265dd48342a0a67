#pragma once

#include <vector>

#include "tune/candidate.h"

namespace distal::core {

// A candidate without sequential loops on these levels of a machine. Sets the tiles of the levels. Every tensor with a
// free format is cut once more by the levels that share its tile. Each of these levels cuts the dimension that makes
// the largest piece smallest, if possible without cyclic cuts. A tile too small to be cut lies at coordinate 0. Tiles
// are rounded up to the multiples that cyclic cuts need.
Candidate with_free_formats(const StatementShape& shape, const std::vector<GridLevel>& levels);

// Each index that several processors cut makes a level of the machine: `parts[i]` processors cut index i. Levels of
// many processors stand inside, because the shares of inner levels need no cyclic cuts, for which tiles are rounded up.
std::vector<GridLevel> levels_of(const std::vector<int64_t>& parts);

}  // namespace distal::core
