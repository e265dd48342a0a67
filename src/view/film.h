#pragma once

#include "plan/cost.h"
#include "view/blocks.h"

namespace distal::core {

// How much detail a picture may have. An entry is a message, an acquired copy or the work of a processor at one step.
struct DetailLimits {
  int64_t entries = 800'000;
  int64_t messages_per_move = 100'000;  // above this, messages are summed over groups of processors
};

// The frames of one stage. A frame is a run of the leaf with the communication before it; a last frame has the results
// that go home after the last run. If all frames together have too many entries, only every n-th and the last one are
// written, and they include the totals of the frames that are left out. `cost` has all steps of the plan.
nlohmann::ordered_json film_of(const Plan& plan, int stage, const PlanCost& cost, const DetailLimits& limits,
                               BlockTable& blocks);

}  // namespace distal::core
