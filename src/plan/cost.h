#pragma once

#include <map>
#include <string>
#include <vector>

#include "distal/cost.h"
#include "plan/walk.h"
#include "support/checked.h"

namespace distal::core {

// How the bytes of a tensor travel; docs/language.md says which is which.
enum class Pattern { None, Broadcast, Shift, Gather, Reduce, Mixed };
std::string to_string(Pattern pattern);

// One step of one tensor that moved bytes.
struct StepCost {
  int stage = 0;
  std::string tensor;
  std::string at;  // the loop of the acquire; "end" for the last copies to further replicas
  int64_t step = 0;
  int64_t bytes = 0;
  int64_t messages = 0;
  Pattern pattern = Pattern::None;
};

// What a plan moves and holds, counted by walking it.
struct PlanCost : Cost {
  std::vector<StepCost> steps;
  Int128 exact_flops = 0;
};

PlanCost count_cost(const Plan& plan);

// 1 per multiplication and 1 per addition of the statement as written, whatever the leaf does.
Int128 flops_of(const Statement& statement, const std::map<std::string, int64_t>& extents);

// The flops of the statement that a stage comes from, as the user wrote it. If a statement became several stages, one
// of them counts its flops, and the others return 0.
Int128 flops_of(const Plan& plan, const StagePlan& stage);

// The extents of a stage's own variables, by name.
std::map<std::string, int64_t> extents_of(const StagePlan& stage);

}  // namespace distal::core
