#include "api/calls.h"

#include <fmt/format.h>

namespace distal {

namespace {

// Places the parts of one call.
struct Placer {
  core::SourceSpan span;

  void operator()(core::IndexVar& v) const { v.span = span; }
  void operator()(core::Name& name) const { name.span = span; }
  void operator()(core::IntExpr&) const {}  // takes the place of the construct around it
  template <class Item>
  void operator()(std::vector<Item>& all) const {
    for (Item& item : all) (*this)(item);
  }
  void operator()(core::MachineDimension& dimension) const { dimension.span = span; }
  void operator()(core::Grid& grid) const { grid.span = span; }
  void operator()(core::Machine& machine) const {
    machine.span = span;
    (*this)(machine.levels);
  }
  void operator()(core::LevelDistribution& level) const {
    level.span = span;
    (*this)(level.machine_dimensions);
  }
  void operator()(core::GridRef& ref) const {
    ref.span = span;
    (*this)(ref.name);
    if (ref.grid) (*this)(*ref.grid);
    if (ref.notation) (*this)(*ref.notation);
  }
  void operator()(core::Access& access) const {
    access.span = span;
    (*this)(access.indices);
  }
  void operator()(core::Expr& expr) const {
    expr = fold(expr, core::Overloaded{[&](core::Access access) {
                                         (*this)(access);
                                         return core::Expr(std::move(access));
                                       },
                                       [&](core::Literal literal) {
                                         literal.span = span;
                                         return core::Expr(std::move(literal));
                                       },
                                       [](const core::Negate&, core::Expr operand) {
                                         return core::Expr::negate(std::move(operand));
                                       },
                                       [](const core::Binary& b, core::Expr left, core::Expr right) {
                                         return core::Expr::binary(b.op, std::move(left), std::move(right));
                                       }});
  }
  void operator()(core::Statement& statement) const {
    statement.span = span;
    (*this)(statement.lhs);
    (*this)(statement.rhs);
  }
  void operator()(core::Command& command) const {
    command.span = span;
    for (core::Argument& argument : command.arguments) std::visit(*this, argument);
  }
};

void place_at_calls(core::ScheduledStatement& scheduled) {
  Placer{at_call(core::to_string(scheduled.statement))}(scheduled.statement);
  for (core::Command& command : scheduled.schedule) {
    std::string call = fmt::format("{}.schedule().{}", scheduled.statement.lhs.tensor, core::to_string(command));
    Placer{at_call(call)}(command);
  }
}

}  // namespace

core::SourceSpan at_call(const std::string& call) {
  return {std::make_shared<const core::Source>(core::Source{call, ""}), 0, 0, 1};
}

void place_at_calls(core::Tensor& tensor) {
  Placer place{at_call("tensor " + tensor.name)};
  tensor.span = tensor.order_span = place.span;
  if (tensor.machine) place(*tensor.machine);
  if (tensor.distribution) place(tensor.distribution->levels);
}

void place_at_calls(core::Module& module) {
  for (core::Param& param : module.params) param.span = at_call("param " + param.name);
  for (core::Machine& machine : module.machines) Placer{at_call("machine " + machine.name)}(machine);
  for (core::Tensor& tensor : module.tensors) place_at_calls(tensor);
  for (core::ScheduledStatement& scheduled : module.statements) place_at_calls(scheduled);
}

}  // namespace distal
