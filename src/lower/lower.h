#pragma once

#include "program/program.h"

namespace distal::core {

// Lowers a scheduled statement: places its loops on the machine, finds where each tensor is acquired, with which
// privilege and which rectangles, and makes a leaf of the rest.
Stage lower_statement(const Module& module, const ScheduledStatement& scheduled, const Stmt& concrete);

}  // namespace distal::core
