#pragma once

#include "program/program.h"

namespace distal::core {

// Where a tensor that no communicate names is acquired.
enum class DefaultCommunicate {
  Innermost,  // inside the innermost loop outside a library kernel: the least memory
  Outermost,  // inside the last launch, or where another tensor is communicated further in: the fewest steps
};

// Lowers a scheduled statement: places its loops on the machine, finds where each tensor is acquired, with which
// privilege and which rectangles, and makes a leaf of the rest.
Stage lower_statement(const Module& module, const ScheduledStatement& scheduled, const Stmt& concrete,
                      DefaultCommunicate default_communicate = DefaultCommunicate::Innermost);

}  // namespace distal::core
