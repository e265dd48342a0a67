#pragma once

#include <cstdint>

#include "tune/cosma.h"

namespace distal::core {

// Sums over all processors can pass 64 bits while plans are still being compared.
__extension__ using Wide = __int128;

// One way to run the program: what algorithms/cosma.distal does with these params, counted. All counts are exact for
// any sizes, grid, steps and sequential parts.
//
// Each tensor is cut by two dimensions of the grid as the work is, and once more by the third, so a processor's home
// pieces are the p-th part of all tensors. Beside them it holds a tile of A, a panel of B and one of C, each only if
// it does not lie in its own piece: with gz == 1 no tile of A is held twice, with gy == 1 no panel of B, with gx == 1
// none of C.
struct CosmaCost {
  int64_t memory_elements;  // on the most loaded processor, home pieces and copies
  int64_t work;             // multiply-adds of the most loaded processor
  Wide moved_elements;      // by all processors
  Wide io_elements;         // of B and C into the most loaded processor and of A out of it, owned or not
};

CosmaCost cosma_cost(const CosmaProblem& problem, const CosmaPlan& plan);

// Two of these counts alone, for those who search.
int64_t cosma_memory(const CosmaProblem& problem, const CosmaPlan& plan);
Wide cosma_io(const CosmaProblem& problem, const CosmaPlan& plan);

// COSMA's s = (S - ab) / (a + b): the elements of k that a step can have at most beside what else is in memory, on a
// processor that finds none of its panels at home. Less than 1 if none can. Other processors may have room for less.
int64_t cosma_longest_step(const CosmaProblem& problem, const CosmaPlan& plan, int64_t memory_elements);

// The largest number of parts, at most `parts`, into which n is cut without an empty one: blocks have
// ceil(n / parts) elements.
int64_t nonempty_parts(int64_t n, int64_t parts);

}  // namespace distal::core
