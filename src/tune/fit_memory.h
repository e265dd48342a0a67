#pragma once

#include <optional>
#include <vector>

#include "distal/progress.h"
#include "tune/candidate_cost.h"

namespace distal::core {

struct CostedCandidate {
  Candidate candidate;
  CandidateCost cost;
};

// Whether `a` exchanges less than `b`; if both exchange as much, whether it moves less, and then whether its busiest
// processor has fewer messages.
bool exchanges_less(const CandidateCost& a, const CandidateCost& b);

// Adds sequential loops to a candidate without loops, so that no processor needs more than `memory_bytes`: none if it
// fits; else one loop, which moves nothing more, over the index and with the fewest chunks that suffice; else loops
// over several indices, those that exchange least among those that are tried. Nothing if none of them fits. A
// statement whose output has replicas gets no loops, and an index that is dealt out is not cut: what they would move is
// not known.
// With `rotates`, loops are rotated where processors share chunks.
std::optional<CostedCandidate> fit_memory(const StatementShape& shape, const Candidate& candidate, int64_t memory_bytes,
                                          bool rotates);

// The least memory that fit_memory can make one of these candidates without loops need. Throws Interrupted if the
// progress was cancelled.
int64_t least_memory(const StatementShape& shape, const std::vector<Candidate>& candidates, Progress* progress);

// All loops of a program together have at most this many steps, counted over all processors.
inline constexpr int64_t kMostSearchedSteps = 10'000'000;

}  // namespace distal::core
