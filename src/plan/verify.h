#pragma once

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

// Proves of a plan, without trusting the code that made it: every needed element has exactly one source and the
// source has it at that time; every written or partial element goes home exactly once; no circle of waits arises
// with the buffers that are planned for; every leaf finds all that it touches. Throws PlanError.
void verify(const Plan& plan, const MemoryNeeds& needs);

// The same as a visitor, so that steps can be fed to it from elsewhere.
std::unique_ptr<PlanVisitor> make_verifier(const Plan& plan, const MemoryNeeds& needs);

}  // namespace distal::core
