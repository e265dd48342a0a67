#pragma once

#include <vector>

#include "ir/interval.h"
#include "ir/iteration_space.h"

namespace distal::core {

// Bounds analysis: computes intervals[v] for every variable of the space from those of the loops (the variables that
// nothing derives from), clipped at every enclosing tile. Returns false if no iteration is left; with symbols it always
// returns true.
template <class Number>
bool bounds(const IterationSpace<Number>& space, std::vector<Interval<Number>>& intervals) {
  for (auto d = space.derivations.rbegin(); d != space.derivations.rend(); ++d) {
    if (!std::visit([&](const auto& r) { return r.bounds(space.extents, intervals); }, *d)) return false;
  }
  return true;
}

}  // namespace distal::core
