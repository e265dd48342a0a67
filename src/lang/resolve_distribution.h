#pragma once

#include "lang/read_distribution.h"

namespace distal::core {

// Cuts the words by the arities of the tensor and of the machine's levels, and checks the validity rules of tensor
// distribution notation.
Distribution resolve_distribution(const RawDistribution& raw, const Tensor& tensor, const Machine& machine,
                                  const Module& module);

}  // namespace distal::core
