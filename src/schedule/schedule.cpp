#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

const std::optional<GridRef> grid_ref_of(const Command& command) {
  if (const auto* d = std::get_if<DistributeCommand>(&command.action)) return d->onto;
  if (const auto* d = std::get_if<DistributeOntoCommand>(&command.action)) return d->onto;
  return std::nullopt;
}

std::optional<Machine> machine_of_tensors(const Module& module, const Statement& statement) {
  std::vector<Access> all = accesses(statement.rhs);
  all.insert(all.begin(), statement.lhs);
  for (const Access& access : all) {
    const Tensor* tensor = module.find_tensor(access.tensor);
    if (tensor && tensor->distribution) return tensor->machine;
  }
  return std::nullopt;
}

void require_at_least_one(const IntExpr& e, const Bindings& params, const SourceSpan& span, const std::string& what) {
  int64_t value = e.evaluate(params);
  if (value < 1) {
    throw Error(fmt::format("{} is {}, and must be at least 1", what, value), e.span().line > 0 ? e.span() : span);
  }
}

}  // namespace

std::optional<Machine> machine_of(const Module& module, const ScheduledStatement& scheduled) {
  if (auto machine = machine_of_tensors(module, scheduled.statement)) return machine;
  Machine in_place;
  for (const Command& command : scheduled.schedule) {
    std::optional<GridRef> ref = grid_ref_of(command);
    if (!ref) continue;
    if (ref->grid) in_place.levels.push_back(*ref->grid);
    if (const Machine* m = module.find_machine(ref->name.text)) return *m;
  }
  if (!in_place.levels.empty()) return in_place;
  if (module.machines.size() == 1) return module.machines[0];
  return std::nullopt;
}

namespace {

// Distribute and communicate take loops of the outermost nest only. Precompute selects its nest itself.
bool is_for_outermost_nest(const Command& command) {
  return std::holds_alternative<DistributeCommand>(command.action) ||
         std::holds_alternative<DistributeOntoCommand>(command.action) ||
         std::holds_alternative<CommunicateCommand>(command.action) ||
         std::holds_alternative<PrecomputeCommand>(command.action);
}

// Applies the command to the nest that has the loops it names: this nest, or one inside its where.
Nest apply_inside(const Nest& nest, const Command& command, const ScheduleContext& context) {
  const auto* where = nest.body.as<Where>();
  if (!where || is_for_outermost_nest(command) || names_any(command, nest.loops)) {
    return std::visit([&](const auto& action) { return apply(nest, action, context); }, command.action);
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
  ScheduleTrace trace{{concretize(scheduled.statement)}};
  for (const Command& command : scheduled.schedule) {
    trace.stages.push_back(apply_command(trace.result(), command, context));
  }
  return trace;
}

void validate_schedule(const ScheduledStatement& scheduled, const Bindings& params) {
  for (const Command& command : scheduled.schedule) {
    if (const auto* s = std::get_if<SplitCommand>(&command.action)) {
      require_at_least_one(s->size, params, command.span, "split: the size");
    }
    if (const auto* d = std::get_if<DivideCommand>(&command.action)) {
      require_at_least_one(d->parts, params, command.span, "divide: the number of parts");
    }
    if (const auto* u = std::get_if<UnrollCommand>(&command.action)) {
      require_at_least_one(u->factor, params, command.span, "unroll: the factor");
    }
    std::optional<GridRef> ref = grid_ref_of(command);
    if (ref && ref->notation) {
      for (const auto& [name, block] : ref->notation->cyclic) {
        require_at_least_one(block, params, ref->span, fmt::format("distribute: the cyclic block of {}", name));
      }
    }
  }
}

}  // namespace distal::core
