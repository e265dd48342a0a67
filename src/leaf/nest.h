#pragma once

#include <vector>

#include "plan/plan.h"

namespace distal::core {

// The loops of a leaf, and the derived variables that become known inside each. An iteration does nothing if it puts a
// tiled variable past its extent.
struct LeafNest {
  std::vector<int> loops;                          // outermost first
  std::vector<std::vector<Derivation>> recovered;  // [0]: before the first loop; [d + 1]: inside loop d
};

// The space with only the derivations that these variables need. It does not bound other variables.
IterationSpace<int64_t> space_for(const IterationSpace<int64_t>& space, const std::vector<int>& variables);

// The space of one of the parts that run one after another: the variables that it uses, without the loops of the other
// parts.
IterationSpace<int64_t> space_of_part(const IterationSpace<int64_t>& space, const std::vector<LeafPart>& parts,
                                      const LeafPart& part);

// By variable: whether it has a value before the first of these loops and does not derive from other variables.
std::vector<bool> known_before(const IterationSpace<int64_t>& space, const std::vector<int>& loops);

// The number of iterations of a loop, without those that are always past the end: a loop may be divided into far more
// parts than there are elements.
int64_t iterations_of(const IterationSpace<int64_t>& space, int loop);

LeafNest make_leaf_nest(const IterationSpace<int64_t>& space, const std::vector<int>& loops);

// The loops that threads may share, where each thread runs a range of one loop's iterations. The value of such a loop
// follows from the indices of the output. So one thread adds everything to an element, in the order of the nest.
std::vector<int> loops_to_share(const IterationSpace<int64_t>& space, const LeafNest& nest,
                                const std::vector<int>& output);

}  // namespace distal::core
