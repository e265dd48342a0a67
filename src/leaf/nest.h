#pragma once

#include <vector>

#include "plan/plan.h"

namespace distal::core {

// The loops of a leaf with what becomes known inside each: the derived variables whose parts are bound there. A tile
// whose value is past its variable's extent has no such iteration.
struct LeafNest {
  std::vector<int> loops;                          // outermost first
  std::vector<std::vector<Derivation>> recovered;  // [0]: before the first loop; [d + 1]: inside loop d
};

// The space as far as these variables derive from it. Others may be past their end where these are not.
IterationSpace<int64_t> space_for(const IterationSpace<int64_t>& space, const std::vector<int>& variables);

LeafNest make_leaf_nest(const IterationSpace<int64_t>& space, const std::vector<int>& loops);

}  // namespace distal::core
