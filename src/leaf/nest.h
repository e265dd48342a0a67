#pragma once

#include <functional>
#include <string>
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

// Which variables have a value before the first of these loops, and are recovered from no others.
std::vector<bool> known_before(const IterationSpace<int64_t>& space, const std::vector<int>& loops);

// How often a loop runs, without the iterations that are past the end wherever the loops around it stand: a loop may
// have far more parts than there are elements.
int64_t iterations_of(const IterationSpace<int64_t>& space, int loop);

// How the variables of a derivation get their values, as lines of C++; a tile's value may be past the end. `name` and
// `extent` give the text of a variable's.
std::vector<std::string> recovery_text(const Derivation& derivation, const std::function<std::string(int)>& name,
                                       const std::function<std::string(int)>& extent);

LeafNest make_leaf_nest(const IterationSpace<int64_t>& space, const std::vector<int>& loops);

// The loops that threads may share, each taking a range of one loop's iterations: those whose value follows from the
// indices of the output, so that all that is added to one element is added by one thread, in the order of the nest.
std::vector<int> loops_to_share(const IterationSpace<int64_t>& space, const LeafNest& nest,
                                const std::vector<int>& output);

}  // namespace distal::core
