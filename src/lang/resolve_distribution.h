#pragma once

#include "lang/check_parts.h"
#include "lang/read_distribution.h"

namespace distal::core {

// Cuts the words into dimensions, by the arities of the space and of the machine's levels. Without a machine that has a
// level for each arrow the levels stay empty. A name is a param, if it names no dimension of the space.
Distribution resolve_distribution(const RawDistribution& raw, const Cuttable& space, const Machine* machine,
                                  const Module& module);

}  // namespace distal::core
