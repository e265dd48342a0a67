#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

std::optional<Machine> machine_of_tensors(const Module& module, const Statement& statement) {
  for (const Access& access : accesses(statement)) {
    const Tensor* tensor = module.find_tensor(access.tensor);
    if (tensor && tensor->machine) return tensor->machine;
  }
  return std::nullopt;
}

// The machine that the schedule names, or that of the tensor that it names.
std::optional<Machine> machine_named(const Module& module, const ScheduledStatement& scheduled) {
  for (const Command& command : scheduled.schedule) {
    const GridRef* ref = onto_of(command);
    if (!ref) continue;
    if (const Machine* machine = module.find_machine(ref->name.text)) return *machine;
    const Tensor* tensor = module.find_tensor(ref->name.text);
    if (tensor && tensor->machine) return tensor->machine;
  }
  return std::nullopt;
}

// The levels that the schedule writes in place.
std::optional<Machine> machine_in_place(const ScheduledStatement& scheduled) {
  Machine machine;
  for (const Command& command : scheduled.schedule) {
    const GridRef* ref = onto_of(command);
    if (ref && ref->grid) machine.levels.push_back(*ref->grid);
  }
  return machine.levels.empty() ? std::nullopt : std::optional(machine);
}

void require_at_least_one(const IntExpr& e, const Bindings& params, const SourceSpan& span, const std::string& what) {
  int64_t value = e.evaluate(params);
  if (value < 1) {
    throw Error(fmt::format("{} is {}, and must be at least 1", what, value), e.span().line > 0 ? e.span() : span);
  }
}

}  // namespace

std::optional<Machine> machine_of(const Module& module, const ScheduledStatement& scheduled) {
  if (auto machine = machine_named(module, scheduled)) return machine;
  if (auto machine = machine_of_tensors(module, scheduled.statement)) return machine;
  if (auto machine = machine_in_place(scheduled)) return machine;
  if (module.machines.size() == 1) return module.machines[0];
  return std::nullopt;
}

namespace {

// Applies the command to the nest that has the loops it names: this nest, or one inside its where.
Nest apply_inside(const Nest& nest, const Command& command, const ScheduleContext& context) {
  const auto* where = nest.body.as<Where>();
  const CommandRow& row = row_of(command);
  if (!where || row.at_outermost_nest || names_any(command, nest.loops)) {
    return row.rewrite(nest, context, command.arguments);
  }
  WhereSide side = names_any(command, all_loops(where->producer)) ? WhereSide::Producer : WhereSide::Consumer;
  return with_side(nest, side, apply_inside(side_of(nest, side), command, context));
}

}  // namespace

Stmt apply_command(const Stmt& stmt, const Command& command, const ScheduleContext& context) {
  return to_stmt(apply_inside(nest_of(stmt), command, context));
}

ScheduleTrace apply_schedule(const Module& module, const ScheduledStatement& scheduled) {
  ScheduleContext context{module, scheduled.statement, machine_of(module, scheduled)};
  for (const Command& command : scheduled.schedule) {
    for (IndexVar& v : loops_made(command)) context.given.push_back(std::move(v));
  }
  ScheduleTrace trace{{concretize(scheduled.statement)}};
  for (const Command& command : scheduled.schedule) {
    trace.stages.push_back(apply_command(trace.result(), command, context));
  }
  return trace;
}

void validate_schedule(const ScheduledStatement& scheduled, const Bindings& params) {
  for (const Command& command : scheduled.schedule) {
    for (size_t i = 0; i < command.arguments.size(); ++i) {
      const auto* number = std::get_if<IntExpr>(&command.arguments[i]);
      if (!number) continue;
      require_at_least_one(*number, params, command.span,
                           fmt::format("{}: {}", command.name, signature_of(command).parameters[i].what));
    }
    const GridRef* ref = onto_of(command);
    if (!ref || !ref->notation) continue;
    for (const auto& [name, block] : ref->notation->cyclic) {
      require_at_least_one(block, params, ref->span, fmt::format("{}: the cyclic block of {}", command.name, name));
    }
  }
}

}  // namespace distal::core
