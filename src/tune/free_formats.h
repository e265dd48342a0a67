#pragma once

#include <vector>

#include "tune/candidate.h"

namespace distal::core {

// A candidate without sequential loops on these levels of a machine; their tiles are found. Every tensor with a free
// format is cut once more by the levels that share its tile. Which of its dimensions each of them cuts is chosen so
// that the largest piece is smallest, if possible without cyclic cuts. A tile too small to be cut lies at coordinate 0.
// Tiles are rounded up to what the cyclic cuts need.
Candidate with_free_formats(const StatementShape& shape, const std::vector<GridLevel>& levels);

// Each index that several processors cut makes a level of the machine: `parts[i]` processors cut index i. Levels of
// many processors stand inside, because the shares of inner levels need no cyclic cuts, for which tiles are rounded up.
std::vector<GridLevel> levels_of(const std::vector<int64_t>& parts);

}  // namespace distal::core
