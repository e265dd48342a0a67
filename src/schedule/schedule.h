#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/concrete.h"
#include "lang/module.h"

namespace distal::core {

// What a scheduling command may look at beside the nest it rewrites.
struct ScheduleContext {
  const Module& module;
  const Statement& statement;
  std::optional<Machine> machine;  // none: one processor
};

// The machine that a statement runs on: that of its tensors, or else the one (or the grids in place) that its
// schedule names, or else the only one declared.
std::optional<Machine> machine_of(const Module& module, const ScheduledStatement& scheduled);

// One command: its preconditions, then its rewrite. A precondition that fails is an Error at the user's words, with
// the loop nest as it stands.
Stmt apply_command(const Stmt& stmt, const Command& command, const ScheduleContext& context);

// A schedule applied, with the nest after each command: the first is the statement as it was.
struct ScheduleTrace {
  std::vector<Stmt> stages;  // stages.size() == number of commands + 1
  const Stmt& result() const { return stages.back(); }
};
ScheduleTrace apply_schedule(const Module& module, const ScheduledStatement& scheduled);

// The numbers of a schedule at given params: every split size and every number of parts is at least 1.
void validate_schedule(const ScheduledStatement& scheduled, const Bindings& params);

}  // namespace distal::core
