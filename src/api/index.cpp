#include "distal/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "api/state.h"
#include "distal/error.h"
#include "lang/check_parts.h"

namespace distal {

namespace {

core::Literal literal(double value) {
  bool integral = std::floor(value) == value && std::abs(value) < 1e15;
  return {value, integral, integral ? fmt::format("{:.0f}", value) : fmt::format("{}", value), {}};
}

core::Access to_core(const TensorState& tensor, const std::vector<IndexVar>& indices) {
  return {key_of(tensor), to_core(indices), {}};
}

template <class Item, class Same>
void add_new(const std::vector<Item>& from, std::vector<Item>& to, Same same) {
  for (const Item& item : from) {
    if (std::none_of(to.begin(), to.end(), [&](const Item& other) { return same(item, other); })) to.push_back(item);
  }
}

bool is_same(const IndexVar& a, const IndexVar& b) { return a.identity() == b.identity(); }

// A negative literal has no spelling of its own: it is the negation of a positive one.
core::Expr constant(double value) {
  return value < 0 ? core::Expr::negate(core::Expr(literal(-value))) : core::Expr(literal(value));
}

Expr binary(core::BinaryOp op, const Expr& a, const Expr& b) {
  std::vector<std::shared_ptr<TensorState>> tensors = a.tensors();
  add_new(b.tensors(), tensors, std::equal_to<>());
  std::vector<IndexVar> variables = a.variables();
  add_new(b.variables(), variables, is_same);
  core::Expr made = core::Expr::binary(op, a.expr(), b.expr());
  core::check_length(made.operators(), {});  // before anything walks it
  return Expr(std::move(made), std::move(tensors), std::move(variables));
}

}  // namespace

Expr::Expr(core::Expr expr, std::vector<std::shared_ptr<TensorState>> tensors, std::vector<IndexVar> variables)
    : expr_(std::make_shared<core::Expr>(std::move(expr))),
      tensors_(std::move(tensors)),
      variables_(std::move(variables)) {}

Expr::Expr(double value) : Expr(constant(value), {}, {}) {}
Expr::Expr(int value) : Expr(static_cast<double>(value)) {}
Expr::Expr(const TensorHandle& scalar) : Expr(core::Expr(to_core(*scalar.state(), {})), {scalar.state()}, {}) {}

Expr operator+(const Expr& a, const Expr& b) { return binary(core::BinaryOp::Add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return binary(core::BinaryOp::Subtract, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return binary(core::BinaryOp::Multiply, a, b); }
Expr operator-(const Expr& a) { return Expr(core::Expr::negate(a.expr()), a.tensors(), a.variables()); }

Access::Access(std::shared_ptr<TensorState> tensor, const std::vector<IndexVar>& indices)
    : Expr(core::Expr(to_core(*tensor, indices)), {tensor}, indices), tensor_(std::move(tensor)), indices_(indices) {}

void Access::operator=(const Expr& right) { define(right, false); }
// A(i) = A(i) defines A, also by itself.
void Access::operator=(const Access& right) { define(right, false); }  // NOLINT(bugprone-unhandled-self-assignment)
void Access::operator+=(const Expr& right) { define(right, true); }

void Access::define(const Expr& right, bool accumulate) {
  core::AssignOp op = accumulate ? core::AssignOp::Accumulate : core::AssignOp::Assign;
  Definition definition{{to_core(*tensor_, indices_), op, right.expr(), {}}, std::nullopt, {}, {}, {}, indices_};
  definition.add(right);
  tensor_->definition = std::move(definition);
}

void Definition::add(const Expr& expr) {
  tensors.insert(tensors.end(), expr.tensors().begin(), expr.tensors().end());
  variables.insert(variables.end(), expr.variables().begin(), expr.variables().end());
}

}  // namespace distal
