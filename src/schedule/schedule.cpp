#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

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

Stmt apply_command(const Stmt& stmt, const Command& command, const ScheduleContext& context) {
  Nest nest = nest_of(stmt);
  return std::visit([&](const auto& action) { return to_stmt(apply(nest, action, context)); }, command.action);
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
  }
}

}  // namespace distal::core
