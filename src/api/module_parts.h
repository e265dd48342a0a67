#pragma once

#include "lang/module.h"

namespace distal {

// Calls f for all that a module's parts consist of: variables, names, tensors of accesses, numbers and places. f takes
// a core::IndexVar&, a core::Name&, a std::string&, a core::IntExpr& or a core::SourceSpan&.
template <class F>
class ModuleParts {
 public:
  explicit ModuleParts(const F& f) : f_(f) {}

  void operator()(core::Machine& machine) const {
    f_(machine.span);
    (*this)(machine.levels);
    if (machine.processors) f_(*machine.processors);
  }
  void operator()(core::Grid& grid) const {
    f_(grid.span);
    (*this)(grid.extents);
  }
  void operator()(core::Tensor& tensor) const {
    f_(tensor.span);
    f_(tensor.order_span);
    (*this)(tensor.dimensions);
    if (tensor.machine) f_(tensor.machine->name);
    if (tensor.machine) (*this)(*tensor.machine);
    if (tensor.distribution) (*this)(tensor.distribution->levels);
  }
  void operator()(core::LevelDistribution& level) const {
    f_(level.span);
    (*this)(level.machine_dimensions);
    for (auto& [name, block] : level.cyclic) f_(block);
  }
  void operator()(core::MachineDimension& dimension) const {
    f_(dimension.span);
    if (auto* fix = std::get_if<core::Fix>(&dimension.role)) f_(fix->face);
  }
  void operator()(core::Statement& statement) const {
    f_(statement.span);
    (*this)(statement.lhs);
    (*this)(statement.rhs);
  }
  void operator()(core::Access& access) const {
    f_(access.span);
    f_(access.tensor);
    (*this)(access.indices);
    for (std::optional<core::IntExpr>& shift : access.shifts) {
      if (shift) f_(*shift);
    }
  }
  void operator()(core::Expr& expr) const {
    expr = fold(expr, core::Overloaded{[&](core::Access access) {
                                         (*this)(access);
                                         return core::Expr(std::move(access));
                                       },
                                       [&](core::Literal literal) {
                                         f_(literal.span);
                                         return core::Expr(std::move(literal));
                                       },
                                       [&](core::ParamUse param) {
                                         f_(param.span);
                                         f_(param.name);
                                         return core::Expr(std::move(param));
                                       },
                                       [](const core::Negate&, core::Expr operand) {
                                         return core::Expr::negate(std::move(operand));
                                       },
                                       [](const core::Binary& b, core::Expr left, core::Expr right) {
                                         return core::Expr::binary(b.op, std::move(left), std::move(right));
                                       }});
  }
  void operator()(core::Command& command) const {
    f_(command.span);
    for (core::Argument& argument : command.arguments) std::visit(*this, argument);
  }
  void operator()(core::GridRef& ref) const {
    f_(ref.span);
    (*this)(ref.name);
    if (ref.grid) (*this)(*ref.grid);
    if (ref.notation) (*this)(*ref.notation);
  }
  void operator()(core::IndexVar& v) const {
    f_(v.span);
    f_(v);
  }
  void operator()(core::Name& name) const {
    f_(name.span);
    f_(name);
  }
  void operator()(core::IntExpr& number) const { f_(number); }
  template <class Item>
  void operator()(std::vector<Item>& all) const {
    for (Item& item : all) (*this)(item);
  }

 private:
  const F& f_;
};

template <class F>
void for_each_part(auto& part, const F& f) {
  ModuleParts<F> parts(f);
  parts(part);
}

}  // namespace distal
