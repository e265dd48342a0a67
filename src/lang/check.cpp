#include "lang/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/check_parts.h"
#include "lang/lexer.h"
#include "lang/suggest.h"
#include "support/text.h"

namespace distal::core {

namespace {

[[noreturn]] void refuse_duplicate(const std::string& kind, const std::string& name, const SourceSpan& span,
                                   const SourceSpan& other, const std::string& other_kind) {
  std::string what = other_kind == kind
                         ? fmt::format("{} `{}` is declared twice", kind, name)
                         : fmt::format("`{}` cannot be a {}: it is a {} already", name, kind, other_kind);
  std::string where = is_in_text(other) ? fmt::format("it is declared in line {}; ", other.line) : "";
  throw Error(what, span, where + "choose another name");
}

// Machines and tensors share their names, since a schedule distributes onto either.
void check_free(const std::string& kind, const std::string& name, const SourceSpan& span, const Module& scope) {
  if (const Machine* other = scope.find_machine(name)) refuse_duplicate(kind, name, span, other->span, "machine");
  if (const Tensor* other = scope.find_tensor(name)) refuse_duplicate(kind, name, span, other->span, "tensor");
}

void check_param_exists(const IntExpr& name, const Module& scope, const SourceSpan& otherwise) {
  std::vector<std::string> known;
  for (const Param& p : scope.params) {
    if (p.name == name.name()) return;
    known.push_back(p.name);
  }
  std::string help = known.empty() ? "no param is declared before this; write for instance `param n = 1024`"
                                   : fmt::format("the params declared before this are {}", listing(known));
  throw Error(fmt::format("unknown param `{}`", name.name()), place_of(name, otherwise),
              help + did_you_mean(name.name(), known));
}

void check_operands(const IntExpr& expr, const Module& scope, const SourceSpan& otherwise) {
  using Kind = IntExpr::Kind;
  if (expr.is_constant()) return;
  if (expr.kind() == Kind::Name) return check_param_exists(expr, scope, otherwise);
  check_operands(expr.a(), scope, otherwise);
  check_operands(expr.b(), scope, otherwise);
  bool divides = expr.kind() == Kind::FloorDiv || expr.kind() == Kind::CeilDiv;
  if (divides && expr.b().is_constant() && expr.b().value() < 1) {
    throw Error(fmt::format("division by {}; a divisor must be at least 1", expr.b().value()),
                place_of(expr, otherwise));
  }
}

}  // namespace

SourceSpan place_of(const IntExpr& expr, const SourceSpan& otherwise) {
  return is_in_text(expr.span()) ? expr.span() : otherwise;
}

void check_name(const std::string& name, const std::string& what, const SourceSpan& span) {
  if (is_identifier(name)) return;
  throw Error(fmt::format("`{}` cannot be the name of {}", printable(name), what), span,
              "names are made of letters, digits and _, and do not begin with a digit");
}

void check_length(int64_t operators, const SourceSpan& span) {
  constexpr int64_t most = 1000;
  if (operators <= most) return;
  throw Error(fmt::format("this expression has more than {} operators", most), span,
              "write it as several statements, the later ones with `+=`");
}

void check_int(const IntExpr& expr, const Module& scope, const SourceSpan& otherwise) {
  check_length(expr.operators(), place_of(expr, otherwise));
  check_operands(expr, scope, otherwise);
}

void check_size(const IntExpr& expr, const Module& scope, const std::string& what, const SourceSpan& otherwise,
                int64_t least) {
  check_int(expr, scope, otherwise);
  if (expr.is_constant()) require_at_least(least, expr, expr.value(), what, otherwise);
}

std::string with_value(const IntExpr& expr, int64_t value) {
  return expr.is_constant() ? std::to_string(value) : fmt::format("{} = {}", expr.to_string(), value);
}

void require_at_least(int64_t least, const IntExpr& expr, int64_t value, const std::string& what,
                      const SourceSpan& otherwise) {
  if (value >= least) return;
  throw Error(fmt::format("{} is {}; it must be at least {}", what, with_value(expr, value), least),
              place_of(expr, otherwise));
}

void check_grid(const Grid& grid, const Module& scope) {
  for (size_t d = 0; d < grid.extents.size(); ++d) {
    check_size(grid.extents[d], scope, fmt::format("extent {} of the grid", d), grid.span);
  }
  if (!grid.extents.empty()) return;
  throw Error("a grid needs at least one dimension", grid.span, "write for instance `Grid(4)`");
}

void check_levels(const Machine& machine, const Module& scope) {
  if (machine.processors) check_size(*machine.processors, scope, "the number of processors", machine.span);
  if (machine.is_free) return;
  for (const Grid& grid : machine.levels) check_grid(grid, scope);
}

void check_param(const Param& param, const Module& scope) {
  check_name(param.name, "a param", param.span);
  for (const Param& p : scope.params) {
    if (p.name == param.name) refuse_duplicate("param", param.name, param.span, p.span, "param");
  }
  check_int(param.value, scope, param.span);
}

void check_machine(const Machine& machine, const Module& scope) {
  check_name(machine.name, "a machine", machine.span);
  check_free("machine", machine.name, machine.span, scope);
  check_levels(machine, scope);
  if (machine.levels.empty()) throw Error("a machine needs at least one level", machine.span);
}

void check_tensor(const Tensor& tensor, const Module& scope) {
  check_name(tensor.name, "a tensor", tensor.span);
  check_free("tensor", tensor.name, tensor.span, scope);
  check_format(tensor, scope);
}

void check_not_empty(const Module& module, const SourceSpan& end) {
  if (!module.statements.empty()) return;
  throw Error("the program has no statement", end,
              "a program computes something, for instance `A(i, j) = B(i, k) * C(k, j)`");
}

void check_declarations(const Module& module) {
  Module scope;
  auto declare = [&](auto Module::*items, auto check_item) {
    for (const auto& item : module.*items) {
      check_item(item, scope);
      (scope.*items).push_back(item);
    }
  };
  declare(&Module::params, check_param);
  declare(&Module::machines, check_machine);
  declare(&Module::tensors, check_tensor);
}

void check(const Module& module) {
  check_declarations(module);
  for (const ScheduledStatement& scheduled : module.statements) {
    check_statement(scheduled.statement, module);
    for (const Command& command : scheduled.schedule) check_command(command, module);
  }
  check_not_empty(module, {});
}

}  // namespace distal::core
