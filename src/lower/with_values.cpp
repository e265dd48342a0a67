#include "lower/with_values.h"

#include <algorithm>

#include "lang/ranges.h"
#include "lower/compile.h"

namespace distal::core {

namespace {

class WithValues {
 public:
  explicit WithValues(const Bindings& params) : params_(params) {}

  Statement operator()(const Statement& s) const { return {(*this)(s.lhs), s.op, (*this)(s.rhs), s.span}; }

  Expr operator()(const Expr& expr) const {
    return fold(expr, Overloaded{[&](const Access& access) { return Expr((*this)(access)); },
                                 [](const Literal& literal) { return Expr(literal); },
                                 [&](const ParamUse& param) { return Expr((*this)(param)); },
                                 [](const Negate&, const Expr& operand) { return Expr::negate(operand); },
                                 [](const Binary& b, const Expr& left, const Expr& right) {
                                   return Expr::binary(b.op, left, right);
                                 }});
  }

 private:
  Access operator()(Access access) const {
    for (std::optional<IntExpr>& shift : access.shifts) {
      if (shift) shift = IntExpr(shift->evaluate(params_));
    }
    return access;
  }

  // The literal prints as the param that it comes from.
  Literal operator()(const ParamUse& param) const {
    return {static_cast<double>(params_.at(param.name)), true, param.name, param.span};
  }

  const Bindings& params_;
};

class Settler {
 public:
  Settler(const Module& module, const Bindings& params) : module_(module), params_(params) {}

  Module run() {
    Module out = module_;
    WithValues settled(params_);
    for (ScheduledStatement& s : out.statements) {
      s.statement = settled(s.statement);
      if (s.origin) s.origin = settled(*s.origin);
      for (Command& command : s.schedule) {
        for (Argument& argument : command.arguments) {
          if (auto* part = std::get_if<Expr>(&argument)) *part = settled(*part);
        }
      }
      remove_empty_sums(s);
    }
    return out;
  }

 private:
  // The loop nest of a sum without iterations has none for the other terms either. So the terms with that sum, which
  // are 0, go. The schedule goes too: its loops may be gone, and loops made of nothing cannot be cut.
  void remove_empty_sums(ScheduledStatement& s) const {
    std::vector<std::string> empty = empty_indices(module_, s.statement, params_);
    if (empty.empty()) return;
    if (!s.origin) s.origin = s.statement;
    std::optional<Expr> rest;
    for (const Term& term : additive_terms(s.statement.rhs)) {
      std::vector<IndexVar> used = variables(term.expr);
      if (std::any_of(used.begin(), used.end(), [&](const IndexVar& v) {
            return std::find(empty.begin(), empty.end(), v.name) != empty.end();
          })) {
        continue;
      }
      Expr signed_term = term.negated ? Expr::negate(term.expr) : term.expr;
      rest = rest ? Expr::binary(BinaryOp::Add, *rest, signed_term) : signed_term;
    }
    s.statement.rhs = rest.value_or(Expr(Literal{0, true, "0", s.statement.span}));
    s.schedule.clear();
    s.has_empty_schedule = true;
  }

  const Module& module_;
  const Bindings& params_;
};

}  // namespace

std::shared_ptr<const Program> with_values(std::shared_ptr<const Program> program, const Bindings& params) {
  Module settled = Settler(program->module, params).run();
  return settled == program->module ? std::move(program) : compile(settled);
}

Statement with_values(const Statement& statement, const Bindings& params) { return WithValues(params)(statement); }

}  // namespace distal::core
