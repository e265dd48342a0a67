#pragma once

#include <limits>
#include <memory>
#include <string>

#include "plan/memory.h"
#include "plan/walk.h"

namespace distal::core {

// A plan that would not do what its program says: a defect of DISTAL, found before anything runs.
class PlanError : public InternalError {
 public:
  using InternalError::InternalError;
};

// What a plan may hold: each processor by itself, and all of them together where they share one memory.
struct MemoryCap {
  int64_t per_processor = std::numeric_limits<int64_t>::max();
  int64_t total = std::numeric_limits<int64_t>::max();
};

// Proves of a plan, without trusting the code that made it: every needed element has exactly one source and the
// source has it at that time; every written or partial element goes home exactly once; no circle of waits arises
// with the buffers that are planned for; whatever is acquired fits into them, and they and the pieces fit into the cap;
// every leaf finds all that it touches. Throws PlanError.
void verify(const Plan& plan, const MemoryNeeds& needs, const MemoryCap& cap = {});

// The same as a visitor, so that steps can be fed to it from elsewhere.
std::unique_ptr<PlanVisitor> make_verifier(const Plan& plan, const MemoryNeeds& needs, const MemoryCap& cap = {});

}  // namespace distal::core
