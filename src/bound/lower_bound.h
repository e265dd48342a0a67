#pragma once

#include "bound/proof.h"

namespace distal::core {

// The most bytes, nearly, that can be proven for some processor: the least exchange with which all processors together
// can compute all points, rounded down to bytes. If every processor owns all that it needs, it is 0.
Proof lower_bound(const BoxProblem& problem);

}  // namespace distal::core
