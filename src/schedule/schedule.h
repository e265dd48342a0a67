#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/concrete.h"
#include "lang/module.h"

namespace distal::core {

// The context in which a command rewrites a nest.
struct ScheduleContext {
  const Module& module;
  const Statement& statement;
  std::optional<Machine> machine;  // none: one processor
  std::vector<IndexVar> given{};   // the loops that the commands of the schedule make
};

// The machine that a statement runs on: the one that its schedule names, by itself or as that of a tensor; else that
// of its first tensor that has one; else the grids that its schedule writes in place; else the only one declared.
std::optional<Machine> machine_of(const Module& module, const ScheduledStatement& scheduled);

// Checks the preconditions of a command and applies it. If a precondition fails, it throws an Error that points to the
// command in the program and shows the current loop nest.
Stmt apply_command(const Stmt& stmt, const Command& command, const ScheduleContext& context);

// The result of a schedule: the statement before the first command, and after each command.
struct ScheduleTrace {
  std::vector<Stmt> stages;  // stages.size() == number of commands + 1
  const Stmt& result() const { return stages.back(); }
};
ScheduleTrace apply_schedule(const Module& module, const ScheduledStatement& scheduled);

// Requires that every number in a schedule is at least 1 for these params: split sizes, numbers of parts, unroll
// factors and cyclic blocks.
void validate_schedule(const ScheduledStatement& scheduled, const Bindings& params);

}  // namespace distal::core
