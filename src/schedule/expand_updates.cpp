#include "schedule/expand_updates.h"

#include <algorithm>

#include "schedule/match_part.h"
#include "schedule/redistribute.h"

namespace distal::core {

namespace {

Expr with_tensor_renamed(const Expr& expr, const std::string& from, const std::string& to) {
  return map_accesses(expr, [&](Access access) {
    if (access.tensor == from) access.tensor = to;
    return access;
  });
}

// A command for the statement that reads `to` in place of its output `from`. What communicates the output communicates
// both; a part to precompute reads `to`.
Command with_tensor_renamed(Command command, const std::string& from, const std::string& to) {
  for (Argument& argument : command.arguments) {
    if (auto* part = std::get_if<Expr>(&argument)) *part = with_tensor_renamed(*part, from, to);
    if (auto* names = std::get_if<std::vector<Name>>(&argument)) {
      auto found = std::find_if(names->begin(), names->end(), [&](const Name& n) { return n.text == from; });
      if (found != names->end()) names->push_back({to, found->span});
    }
  }
  return command;
}

void expand(const ScheduledStatement& original, Module& out) {
  const std::string output = original.statement.lhs.tensor;
  Tensor before = *out.find_tensor(output);
  before.name = old_output_name(out, output);
  out.tensors.push_back(before);

  ScheduledStatement copy = redistribution(before, output);
  copy.statement.span = original.statement.span;
  copy.counts = false;
  copy.has_empty_schedule = copy.schedule.empty();

  ScheduledStatement update = original;
  if (!update.origin) update.origin = original.statement;
  update.statement.rhs = with_tensor_renamed(original.statement.rhs, output, before.name);
  for (Command& c : update.schedule) c = with_tensor_renamed(std::move(c), output, before.name);

  out.statements.push_back(std::move(copy));
  out.statements.push_back(std::move(update));
}

}  // namespace

std::string old_output_name(const Module& module, const std::string& output) {
  std::string name = output + "_before";
  auto is_param = [&](const Param& p) { return p.name == name; };
  while (module.find_tensor(name) || module.find_machine(name) ||
         std::any_of(module.params.begin(), module.params.end(), is_param)) {
    name += "_";
  }
  return name;
}

Module expand_updates(const Module& module) {
  Module out = module;
  out.statements.clear();
  for (const ScheduledStatement& s : module.statements) {
    if (reads_output(s.statement)) {
      expand(s, out);
    } else {
      out.statements.push_back(s);
    }
  }
  return out;
}

}  // namespace distal::core
