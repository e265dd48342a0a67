#pragma once

#include <limits>
#include <memory>
#include <string>

#include "plan/memory.h"
#include "plan/walk.h"

namespace distal::core {

// The plan would not do what its program says. This is a defect of DISTAL, found before anything runs.
class PlanError : public InternalError {
 public:
  using InternalError::InternalError;
};

// The most bytes that each processor may hold, and all together if they share one memory.
struct MemoryCap {
  int64_t per_processor = std::numeric_limits<int64_t>::max();
  int64_t total = std::numeric_limits<int64_t>::max();
};

// Proves, without trusting the code that made the plan, that
// - every needed element has exactly one source, which has the element at that time;
// - every written or partial element goes home exactly once;
// - with the planned buffers no processors wait for each other in a cycle;
// - what is acquired fits into the buffers, and buffers and pieces fit into the cap;
// - every leaf finds all that it touches.
// Throws PlanError.
void verify(const Plan& plan, const MemoryNeeds& needs, const MemoryCap& cap = {});

// The same as a visitor, for steps that do not come from `walk`.
std::unique_ptr<PlanVisitor> make_verifier(const Plan& plan, const MemoryNeeds& needs, const MemoryCap& cap = {});

}  // namespace distal::core
