#pragma once

#include <cstdint>

#include "tune/cosma.h"

namespace distal::core {

// Sums over all processors can pass 64 bits while plans are still being compared.
__extension__ using Wide = __int128;

// One way to run the program: what algorithms/cosma.distal does with these params, counted.
//
// A, B and C lie on faces of the grid, and the faces meet at processor (0, 0, 0). It owns a piece of all three, uses
// each where it lies and acquires nothing. Any other processor has, of each tensor, either a piece that is no larger,
// or an acquired tile or chunk, which is a part of such a piece. So memory is what the corner owns: steps and
// sequential parts make the copies of the others smaller, and never the need of the most loaded processor.
struct CosmaCost {
  int64_t memory_elements;  // on the most loaded processor, home pieces and copies
  int64_t work;             // multiply-adds of the most loaded processor
  Wide moved_elements;      // by all processors
  Wide io_elements;         // of B and C into the most loaded processor and of A out of it, owned or not
};

CosmaCost cosma_cost(const CosmaProblem& problem, const CosmaPlan& plan);

// The largest number of parts, at most `parts`, into which n is cut without an empty one: blocks have
// ceil(n / parts) elements.
int64_t nonempty_parts(int64_t n, int64_t parts);

}  // namespace distal::core
