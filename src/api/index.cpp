#include "distal/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string_view>

#include "api/state.h"
#include "distal/error.h"

namespace distal {

namespace {

core::Literal literal(double value) {
  bool integral = std::floor(value) == value && std::abs(value) < 1e15;
  return {value, integral, integral ? fmt::format("{:.0f}", value) : fmt::format("{}", value), {}};
}

core::Access to_core(const TensorState& tensor, const std::vector<IndexVar>& indices) {
  core::Access out{tensor.name, {}, {}};
  for (const IndexVar& v : indices) out.indices.push_back({v.name(), {}});
  return out;
}

// A negative literal has no spelling of its own: it is the negation of a positive one.
core::Expr constant(double value) {
  return value < 0 ? core::Expr::negate(core::Expr(literal(-value))) : core::Expr(literal(value));
}

Expr binary(core::BinaryOp op, const Expr& a, const Expr& b) {
  std::vector<std::shared_ptr<TensorState>> tensors = a.tensors();
  for (const auto& t : b.tensors()) {
    if (std::find(tensors.begin(), tensors.end(), t) == tensors.end()) tensors.push_back(t);
  }
  return Expr(core::Expr::binary(op, a.expr(), b.expr()), std::move(tensors));
}

}  // namespace

namespace {

constexpr std::string_view kPrefixes = "MTip";  // of machines, tensors, variables and params

}  // namespace

std::string fresh_name(char prefix) {
  static std::atomic<int64_t> next{1};  // the one thing that handles of one process share: their names differ
  if (kPrefixes.find(prefix) == std::string_view::npos) throw core::InternalError("a prefix that no name has");
  return fmt::format("{}{}", prefix, next++);
}

bool is_fresh_name(const std::string& name) {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return name.size() > 1 && kPrefixes.find(name[0]) != std::string_view::npos &&
         std::all_of(name.begin() + 1, name.end(), is_digit);
}

IndexVar::IndexVar() : name_(fresh_name('i')) {}

Expr::Expr(core::Expr expr, std::vector<std::shared_ptr<TensorState>> tensors)
    : expr_(std::make_shared<core::Expr>(std::move(expr))), tensors_(std::move(tensors)) {}

Expr::Expr(double value) : Expr(constant(value), {}) {}
Expr::Expr(int value) : Expr(static_cast<double>(value)) {}
Expr::Expr(const TensorHandle& scalar) : Expr(core::Expr(to_core(*scalar.state(), {})), {scalar.state()}) {}

Expr operator+(const Expr& a, const Expr& b) { return binary(core::BinaryOp::Add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return binary(core::BinaryOp::Subtract, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return binary(core::BinaryOp::Multiply, a, b); }
Expr operator-(const Expr& a) { return Expr(core::Expr::negate(a.expr()), a.tensors()); }

Access::Access(std::shared_ptr<TensorState> tensor, const std::vector<IndexVar>& indices)
    : Expr(core::Expr(to_core(*tensor, indices)), {tensor}), tensor_(std::move(tensor)), indices_(indices) {}

void Access::operator=(const Expr& right) { define(right, false); }
// A(i) = A(i) defines A, also by itself.
void Access::operator=(const Access& right) { define(right, false); }  // NOLINT(bugprone-unhandled-self-assignment)
void Access::operator+=(const Expr& right) { define(right, true); }

void Access::define(const Expr& right, bool accumulate) {
  Definition definition{
      {to_core(*tensor_, indices_), accumulate ? core::AssignOp::Accumulate : core::AssignOp::Assign, right.expr(), {}},
      {},
      {right.tensors().begin(), right.tensors().end()},
      {},
      {}};
  tensor_->definition = std::move(definition);
}

}  // namespace distal
