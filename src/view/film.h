#pragma once

#include "plan/cost.h"
#include "view/blocks.h"

namespace distal::core {

// How much detail a picture may have. An entry is a message, an acquired copy or the work of a processor at one step.
struct DetailLimits {
  int64_t entries = 800'000;
  int64_t messages_per_move = 100'000;  // above this, messages are summed over groups of processors
};

// The frames of one stage: the communication before each run of the leaf together with this run, and at the end what
// goes home. If all frames together have too many entries, every n-th and the last one are written; these tell the
// totals of the frames that are left out. `cost` has all steps of the plan.
nlohmann::ordered_json film_of(const Plan& plan, int stage, const PlanCost& cost, const DetailLimits& limits,
                               BlockTable& blocks);

}  // namespace distal::core
