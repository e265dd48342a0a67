#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tune/candidate.h"

namespace distal::core {

// What a candidate moves and holds, by a closed form. Bytes are exact: they equal what is counted from the Plan of the
// candidate's program, except for link_bytes, which no plan counts.
struct CandidateCost {
  int64_t exchanged_bytes = 0;  // the most that a processor receives of operands and sends of results or partials
  int64_t bytes_moved = 0;      // by all processors
  int64_t peak_bytes = 0;       // home pieces and copies, on the processor with most; at most, if loops are rotated
  int64_t home_bytes = 0;       // home pieces, on the processor with most
  // What the busiest processor exchanges, each byte counted once for every time that it is sent one after another. In a
  // step in which many processors need the same chunk of one owner, it goes along a tree.
  int64_t link_bytes = 0;
  // Moved between processors of the outermost level of the machine. At most, if partials are combined inside of such a
  // processor before; 0, which is not counted, if formats are given or an access is not simple.
  int64_t crossing_bytes = 0;
  // Between processors. Exact without sequential loops, if at most one level cuts an index that is summed over and the
  // partials need no tree; otherwise an estimate.
  int64_t messages = 0;
  int64_t messages_of_busiest = 0;
  int64_t points_of_busiest = 0;  // of the iteration space
  int64_t working_processors = 0;

  bool operator==(const CandidateCost&) const = default;
};

// Numbers beyond 64 bits are given as the largest that fits.
CandidateCost cost_of(const StatementShape& shape, const Candidate& candidate);

// An estimate: if no rule says which processors cost equally much, looks only at a few of them.
CandidateCost cost_of_some(const StatementShape& shape, const Candidate& candidate);

// The same as cost_of, but looks at a few processors first, and returns nothing if `stops` is true for their cost: the
// most that one of them exchanges, its messages and its points.
using StopCounting = std::function<bool(const CandidateCost&)>;
std::optional<CandidateCost> cost_unless(const StatementShape& shape, const Candidate& candidate,
                                         const StopCounting& stops);

}  // namespace distal::core
