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

LeafNest make_leaf_nest(const IterationSpace<int64_t>& space, const std::vector<int>& loops);

// An addend of the right side, and the variables at whose first iteration alone it contributes: those of the sums
// that it takes no part in.
struct LeafTerm {
  bool negated = false;
  Expr expr;
  std::vector<int> only_at_zero;
  int first_access = 0;  // the number of its first access among the leaf's
};

std::vector<LeafTerm> leaf_terms(const Stage& stage);

}  // namespace distal::core
