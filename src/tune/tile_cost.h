#pragma once

#include <cstdint>

#include "tune/processor_view.h"

namespace distal::core {

// What a processor acquires, and copies, of the tensor that it looks at, if each step touches one rectangle: the tile,
// or a chunk of it.
class TileCost {
 public:
  explicit TileCost(const ProcessorView& view);

  // How often the processor acquires the whole tile, chunk by chunk.
  int64_t visits() const;
  // In how many rounds a chunk reaches all processors that need it at the same step.
  int64_t rounds_of_tree() const;
  // The elements of the largest chunk that is copied, because the processor does not own all of it.
  int64_t largest_copy() const;
  // A copy from which a neighbour fetches in the next step has a second buffer.
  int64_t buffers() const;
  // The messages of one visit of the tile.
  int64_t messages() const;

 private:
  bool is_shared_along(size_t level) const;
  int64_t parts_of_loop(int index) const;
  double owners_of_chunk(double receivers) const;
  int64_t chunks_at_once() const;
  bool has_several_blocks() const;

  // Of the dimensions that are not dealt out: the largest product of chunks that are all owned, and of chunks of which
  // at least one is not.
  struct LongestChunks {
    int64_t all_owned = 1;
    int64_t some_foreign = 0;
  };
  LongestChunks longest_chunks() const;
  int64_t largest_chunk() const;
  int64_t largest_block() const;
  int64_t foreign_blocks() const;
  int64_t given_messages() const;

  const ProcessorView& view_;
  const StatementShape& shape_;
  const Candidate& candidate_;
  const ShapeTensor& tensor_;
  int number_;
};

// The messages in which `foreign` elements arrive, as if they lay in average pieces; one for each chunk at least.
int64_t estimated_messages(const ProcessorView& view, int64_t foreign, int64_t chunks);

}  // namespace distal::core
