#pragma once

#include <cstdint>

#include "tune/cosma.h"

namespace distal::core {

// Sums over all processors may exceed 64 bits while plans are compared.
__extension__ using Wide = __int128;

// The cost of algorithms/cosma.distal with the params of a plan. All counts are exact for any sizes, grid, steps and
// sequential parts.
//
// Two dimensions of the grid cut each tensor like the work, and the third cuts it once more. So each of p processors
// owns 1/p of all tensors. It also holds copies of a tile of A, a panel of B and a panel of C, unless they lie in its
// own pieces: there is no copy of A if gz == 1, of B if gy == 1, and of C if gx == 1.
struct CosmaCost {
  int64_t memory_elements;  // home pieces and copies, on the most loaded processor
  int64_t work;             // multiply-adds of the most loaded processor
  Wide moved_elements;      // by all processors
  Wide io_elements;         // of B and C into the most loaded processor and of A out of it, owned or not
};

CosmaCost cosma_cost(const CosmaProblem& problem, const CosmaPlan& plan);

// Single fields of the cost, for the search: memory_elements and io_elements.
int64_t cosma_memory(const CosmaProblem& problem, const CosmaPlan& plan);
Wide cosma_io(const CosmaProblem& problem, const CosmaPlan& plan);

// COSMA's s = (S - ab) / (a + b): the most elements of k in a step that fit in memory, on a processor that owns none of
// its panels. Less than 1 if no step fits. On other processors less may fit.
int64_t cosma_longest_step(const CosmaProblem& problem, const CosmaPlan& plan, int64_t memory_elements);

// The largest number of parts, at most `parts`, that n can be cut into without an empty part. Blocks have ceil(n /
// parts) elements.
int64_t nonempty_parts(int64_t n, int64_t parts);

}  // namespace distal::core
