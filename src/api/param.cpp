#include "distal/param.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "api/state.h"
#include "distal/error.h"
#include "lang/check_parts.h"
#include "lang/int_expr.h"

namespace distal {

Param::Param(int64_t value) : Param(std::string(), value) {}

Param::Param(std::string name, int64_t value) : state_(std::make_shared<State>(State{std::move(name), value})) {}

Param& Param::operator=(int64_t value) {
  state_->value = value;
  return *this;
}

Int::Int(int64_t value) : expr_(std::make_shared<core::IntExpr>(value)) {}

int64_t Int::from_unsigned(uint64_t value) {
  if (std::in_range<int64_t>(value)) return static_cast<int64_t>(value);
  throw Error(fmt::format("{} does not fit in 64 bits", value), {},
              fmt::format("the largest integer is {}", std::numeric_limits<int64_t>::max()));
}

Int::Int(const Param& param)
    : expr_(std::make_shared<core::IntExpr>(core::IntExpr::name(key_of(*param.state())))), params_{param.state()} {}

int64_t Int::value() const {
  core::Bindings values;
  for (const auto& p : params_) values[key_of(*p)] = p->value;
  return expr_->evaluate(values);
}

std::string Int::to_string() const {
  std::map<std::string, core::IntExpr> names;
  for (const auto& p : params_) names.emplace(key_of(*p), core::IntExpr::name(p->name.empty() ? "param" : p->name));
  return expr_->substitute(names).to_string();
}

Int make_int(const core::IntExpr& expr, const Int& a, const Int& b) {
  core::check_length(expr.operators(), {});  // before anything walks it
  Int out;
  out.expr_ = std::make_shared<core::IntExpr>(expr);
  out.params_ = a.params_;
  for (const auto& p : b.params_) {
    if (std::find(out.params_.begin(), out.params_.end(), p) == out.params_.end()) out.params_.push_back(p);
  }
  return out;
}

Int operator+(const Int& a, const Int& b) { return make_int(a.expr() + b.expr(), a, b); }
Int operator-(const Int& a, const Int& b) { return make_int(a.expr() - b.expr(), a, b); }
Int operator*(const Int& a, const Int& b) { return make_int(a.expr() * b.expr(), a, b); }
Int operator/(const Int& a, const Int& b) { return make_int(core::floor_div(a.expr(), b.expr()), a, b); }
Int ceildiv(const Int& a, const Int& b) { return make_int(core::ceil_div(a.expr(), b.expr()), a, b); }
Int min(const Int& a, const Int& b) { return make_int(core::min(a.expr(), b.expr()), a, b); }
Int max(const Int& a, const Int& b) { return make_int(core::max(a.expr(), b.expr()), a, b); }

}  // namespace distal
