#pragma once

#include "program/program.h"

namespace distal::core {

// Where a tensor is acquired that no communicate names.
enum class DefaultCommunicate {
  Innermost,  // at the innermost loop that the program still steps through: the least memory
  Outermost,  // as far out as the launches and the communicates of the other tensors let it: the fewest steps
};

// Lowers a scheduled statement: places loops on the machine, finds where each tensor is acquired, with which
// privilege and which rectangles, and what is left for the leaf.
Stage lower_statement(const Module& module, const ScheduledStatement& scheduled, const Stmt& concrete,
                      DefaultCommunicate default_communicate = DefaultCommunicate::Innermost);

}  // namespace distal::core
