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

core::Access to_core(const TensorState& tensor, const std::vector<Index>& indices) {
  core::Access out{key_of(tensor), {}, {}};
  for (const Index& index : indices) {
    out.indices.push_back(to_core(index.variable()));
    if (!index.shift() && !out.is_shifted()) continue;
    out.shifts.resize(out.indices.size());
    if (index.shift()) out.shifts.back() = index.shift()->expr();
  }
  return out;
}

std::vector<IndexVar> variables_of(const std::vector<Index>& indices) {
  std::vector<IndexVar> out;
  for (const Index& index : indices) out.push_back(index.variable());
  return out;
}

std::vector<Int> shifts_of(const std::vector<Index>& indices) {
  std::vector<Int> out;
  for (const Index& index : indices) {
    if (index.shift()) out.push_back(*index.shift());
  }
  return out;
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

core::Expr number(const core::IntExpr& e, const Int& whole) {
  using Kind = core::IntExpr::Kind;
  auto binary = [&](core::BinaryOp op) { return core::Expr::binary(op, number(e.a(), whole), number(e.b(), whole)); };
  switch (e.kind()) {
    case Kind::Constant: return constant(static_cast<double>(e.value()));
    case Kind::Name: return core::Expr(core::ParamUse{e.name(), {}});
    case Kind::Add: return binary(core::BinaryOp::Add);
    case Kind::Sub: return binary(core::BinaryOp::Subtract);
    case Kind::Mul: return binary(core::BinaryOp::Multiply);
    default:
      throw Error(
          fmt::format("{} cannot be a number of a statement, which adds, subtracts and multiplies", whole.to_string()),
          {}, "give its value to a param, and write that");
  }
}

// A tensor has one statement at a time. One that adds is meant to come after the one before, which a kernel has to have
// taken by then.
void require_nothing_to_add_to(const TensorState& tensor, const char* op) {
  if (!tensor.definition || tensor.definition->is_compiled) return;
  throw Error(fmt::format("{} has a statement that no kernel was made of, and {} would replace it", tensor.label(), op),
              {}, "compile the first statement before the second is written, or write the terms into one statement");
}

Expr binary(core::BinaryOp op, const Expr& a, const Expr& b) {
  std::vector<std::shared_ptr<TensorState>> tensors = a.tensors();
  add_new(b.tensors(), tensors, std::equal_to<>());
  std::vector<IndexVar> variables = a.variables();
  add_new(b.variables(), variables, is_same);
  std::vector<Int> numbers = a.numbers();
  numbers.insert(numbers.end(), b.numbers().begin(), b.numbers().end());
  core::Expr made = core::Expr::binary(op, a.expr(), b.expr());
  core::check_length(made.operators(), {});  // refuses an expression that is too long before any code walks it
  return Expr(std::move(made), std::move(tensors), std::move(variables), std::move(numbers));
}

}  // namespace

Index operator+(const Index& index, const Int& by) {
  Index out = index;
  out.shift_ = index.shift_ ? *index.shift_ + by : by;
  return out;
}
Index operator-(const Index& index, const Int& by) { return index + (Int(0) - by); }

Expr::Expr(core::Expr expr, std::vector<std::shared_ptr<TensorState>> tensors, std::vector<IndexVar> variables,
           std::vector<Int> numbers)
    : expr_(std::make_shared<core::Expr>(std::move(expr))),
      tensors_(std::move(tensors)),
      variables_(std::move(variables)),
      numbers_(std::move(numbers)) {}

Expr::Expr(double value) : Expr(constant(value), {}, {}) {}
Expr::Expr(int value) : Expr(static_cast<double>(value)) {}
Expr::Expr(const Int& value) : Expr(number(value.expr(), value), {}, {}, {value}) {}
Expr::Expr(const TensorHandle& scalar) : Expr(core::Expr(to_core(*scalar.state(), {})), {scalar.state()}, {}) {}

Expr operator+(const Expr& a, const Expr& b) { return binary(core::BinaryOp::Add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return binary(core::BinaryOp::Subtract, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return binary(core::BinaryOp::Multiply, a, b); }
Expr operator-(const Expr& a) { return Expr(core::Expr::negate(a.expr()), a.tensors(), a.variables(), a.numbers()); }

Access::Access(std::shared_ptr<TensorState> tensor, const std::vector<Index>& indices)
    : Expr(core::Expr(to_core(*tensor, indices)), {tensor}, variables_of(indices), shifts_of(indices)),
      tensor_(std::move(tensor)) {}
Access::Access(std::shared_ptr<TensorState> tensor, const std::vector<IndexVar>& indices)
    : Access(std::move(tensor), std::vector<Index>(indices.begin(), indices.end())) {}

void Access::operator=(const Expr& right) { define(right, How::Assign); }
// A(i) = A(i) defines A, also by itself.
// NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
void Access::operator=(const Access& right) { define(right, How::Assign); }
void Access::operator=(const Param& right) { *this = Expr(Int(right)); }
void Access::operator+=(const Expr& right) { define(right, How::Add); }
void Access::operator-=(const Expr& right) { define(right, How::Subtract); }

void Access::define(const Expr& right, How how) {
  if (how != How::Assign) require_nothing_to_add_to(*tensor_, how == How::Add ? "+=" : "-=");
  core::AssignOp op = how == How::Assign ? core::AssignOp::Assign
                      : how == How::Add  ? core::AssignOp::Accumulate
                                         : core::AssignOp::Subtract;
  core::Statement statement{std::get<core::Access>(expr().node()), op, right.expr(), {}};
  Definition definition{std::move(statement), std::nullopt, {}, numbers(), {}, variables()};
  definition.add(right);
  tensor_->definition = std::move(definition);
}

void Definition::add(const Expr& expr) {
  tensors.insert(tensors.end(), expr.tensors().begin(), expr.tensors().end());
  variables.insert(variables.end(), expr.variables().begin(), expr.variables().end());
  numbers.insert(numbers.end(), expr.numbers().begin(), expr.numbers().end());
}

}  // namespace distal
