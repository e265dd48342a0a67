#pragma once

#include <string>
#include <vector>

#include "tune/transfers.h"

namespace distal::core {

// What was chosen for a statement and why, line by line: the grid, its costs, what causes the transfers of each tensor
// and what would save them, and the best alternatives.
std::string report_of(const FoundStatement& found, const std::vector<TensorTransfer>& transfers);

// The grid and the sequential loops of a candidate in one line: "i/4 j/2, k in 8 steps".
std::string grid_text(const StatementShape& shape, const Candidate& candidate);

}  // namespace distal::core
