#pragma once

#include <cstdint>

#include "tune/cosma.h"

namespace distal::core {

// Sums over all processors can pass 64 bits while plans are still being compared.
__extension__ using Wide = __int128;

// One way to run the program: what algorithms/cosma.distal does with these params, counted.
struct CosmaCost {
  int64_t tile_i, tile_j;    // the tile of A that a processor works on at a time
  int64_t local_k, chunk_k;  // its part of k, and the part of one step
  int64_t home_elements;     // pieces owned by processor (0, 0, 0), where the faces of A, B and C meet
  int64_t copied_elements;   // the acquired tile of A and the chunks of B and C, where they are not at home
  int64_t work;              // multiply-adds of the most loaded processor
  Wide moved_elements;       // by all processors
  Wide received_elements;    // by a processor that owns nothing, its partial tile of A included
  Wide io_elements;          // of B and C into the most loaded processor and of A out of it, owned or not

  int64_t memory_elements() const { return home_elements + copied_elements; }
};

CosmaCost cosma_cost(const CosmaProblem& problem, const CosmaPlan& plan);

// The largest number of parts, at most `parts`, into which n is cut without an empty one: blocks have
// ceil(n / parts) elements.
int64_t nonempty_parts(int64_t n, int64_t parts);

}  // namespace distal::core
