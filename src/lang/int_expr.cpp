#include "lang/int_expr.h"

#include <fmt/format.h>

#include "support/checked.h"

namespace distal::core {

namespace {

using Kind = IntExpr::Kind;

int64_t positive_divisor(int64_t b, const SourceSpan& span) {
  if (b < 1) throw Error(fmt::format("division by {}; a divisor must be at least 1", b), span);
  return b;
}

int64_t apply_unplaced(Kind kind, int64_t a, int64_t b, const SourceSpan& span) {
  switch (kind) {
    case Kind::Add: return checked_add(a, b);
    case Kind::Sub: return checked_sub(a, b);
    case Kind::Mul: return checked_mul(a, b);
    case Kind::FloorDiv: return floor_div(a, positive_divisor(b, span));
    case Kind::CeilDiv: return ceil_div(a, positive_divisor(b, span));
    case Kind::Mod: return floor_mod(a, positive_divisor(b, span));
    case Kind::Min: return std::min(a, b);
    case Kind::Max: return std::max(a, b);
    case Kind::Constant:
    case Kind::Name: break;
  }
  throw InternalError("apply: not an operator");
}

// Checked arithmetic does not know where in the source it happens.
int64_t apply(Kind kind, int64_t a, int64_t b, const SourceSpan& span) {
  try {
    return apply_unplaced(kind, a, b, span);
  } catch (const Error& e) {
    throw Error(e.message(), span, e.help());
  }
}

int precedence(Kind kind) {
  switch (kind) {
    case Kind::Add:
    case Kind::Sub: return 1;
    case Kind::Mul:
    case Kind::FloorDiv: return 2;
    default: return 3;
  }
}

std::string with_parentheses(const IntExpr& e, int below) {
  std::string text = e.to_string();
  return precedence(e.kind()) < below || (e.is_constant() && e.value() < 0) ? "(" + text + ")" : text;
}

std::string infix(const IntExpr& e, const char* op) {
  int p = precedence(e.kind());
  // The right operand of - and / needs its parentheses at equal precedence too.
  return with_parentheses(e.a(), p) + op + with_parentheses(e.b(), p + (e.kind() == Kind::Add ? 0 : 1));
}

// The number can double with every operator. It stops at one that is too large for any use.
int64_t operators_of(const IntExpr& a, const IntExpr& b) {
  return std::min(a.operators() + b.operators() + 1, int64_t{1} << 40);
}

}  // namespace

IntExpr::IntExpr(int64_t value) : IntExpr(constant(value, {})) {}

IntExpr IntExpr::constant(int64_t value, SourceSpan span) {
  auto node = std::make_shared<Node>();
  node->value = value;
  node->span = std::move(span);
  return IntExpr(std::shared_ptr<const Node>(std::move(node)));
}

IntExpr IntExpr::name(std::string name, SourceSpan span) {
  auto node = std::make_shared<Node>();
  node->kind = Kind::Name;
  node->name = std::move(name);
  node->span = std::move(span);
  return IntExpr(std::shared_ptr<const Node>(std::move(node)));
}

IntExpr IntExpr::make(Kind kind, IntExpr a, IntExpr b, SourceSpan span) {
  bool divides = kind == Kind::FloorDiv || kind == Kind::CeilDiv || kind == Kind::Mod;
  // A division by a bad constant is left standing, so that evaluation reports it at its place.
  if (a.is_constant() && b.is_constant() && !(divides && b.value() < 1)) {
    return IntExpr(apply(kind, a.value(), b.value(), span));
  }
  switch (kind) {
    case Kind::Add:
      if (a.is_constant(0)) return b;
      if (b.is_constant(0)) return a;
      // Sums lean to the left, as they are parsed, so that what is printed without parentheses parses back to itself.
      if (b.kind() == Kind::Add) return make(kind, make(kind, a, b.a(), span), b.b(), span);
      break;
    case Kind::Sub:
      if (b.is_constant(0)) return a;
      break;
    case Kind::Mul:
      if (a.is_constant(0) || b.is_constant(0)) return IntExpr(0);
      if (a.is_constant(1)) return b;
      if (b.is_constant(1)) return a;
      break;
    case Kind::FloorDiv:
    case Kind::CeilDiv:
      if (b.is_constant(1)) return a;
      break;
    case Kind::Min:
    case Kind::Max:
      if (a == b) return a;
      break;
    default: break;
  }
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->operators = operators_of(a, b);
  node->args = {std::move(a), std::move(b)};
  node->span = std::move(span);
  return IntExpr(std::shared_ptr<const Node>(std::move(node)));
}

int64_t IntExpr::evaluate(const Bindings& bindings) const {
  if (kind() == Kind::Constant) return value();
  if (kind() == Kind::Name) {
    auto it = bindings.find(name());
    if (it == bindings.end()) throw Error(fmt::format("unknown param {}", name()), span());
    return it->second;
  }
  return apply(kind(), a().evaluate(bindings), b().evaluate(bindings), span());
}

IntExpr IntExpr::substitute(const std::map<std::string, IntExpr>& by) const {
  if (kind() == Kind::Constant) return *this;
  if (kind() == Kind::Name) {
    auto it = by.find(name());
    return it == by.end() ? *this : it->second;
  }
  return make(kind(), a().substitute(by), b().substitute(by), span());
}

void IntExpr::collect_names(std::set<std::string>& names) const {
  if (kind() == Kind::Name) names.insert(name());
  for (const IntExpr& arg : node_->args) arg.collect_names(names);
}

std::string IntExpr::to_string() const {
  switch (kind()) {
    case Kind::Constant: return std::to_string(value());
    case Kind::Name: return name();
    case Kind::Add: return infix(*this, " + ");
    case Kind::Sub: return infix(*this, " - ");
    case Kind::Mul: return infix(*this, "*");
    case Kind::FloorDiv: return infix(*this, "/");
    case Kind::Mod: return fmt::format("mod({}, {})", a().to_string(), b().to_string());
    case Kind::CeilDiv: return fmt::format("ceildiv({}, {})", a().to_string(), b().to_string());
    case Kind::Min: return fmt::format("min({}, {})", a().to_string(), b().to_string());
    case Kind::Max: return fmt::format("max({}, {})", a().to_string(), b().to_string());
  }
  throw InternalError("to_string: unknown kind");
}

bool operator==(const IntExpr& x, const IntExpr& y) {
  if (x.node_ == y.node_) return true;
  return x.kind() == y.kind() && x.value() == y.value() && x.name() == y.name() && x.node_->args == y.node_->args;
}

IntExpr operator+(const IntExpr& a, const IntExpr& b) { return IntExpr::make(Kind::Add, a, b); }
IntExpr operator-(const IntExpr& a, const IntExpr& b) { return IntExpr::make(Kind::Sub, a, b); }
IntExpr operator*(const IntExpr& a, const IntExpr& b) { return IntExpr::make(Kind::Mul, a, b); }
IntExpr floor_div(const IntExpr& a, const IntExpr& b) { return IntExpr::make(Kind::FloorDiv, a, b); }
IntExpr floor_mod(const IntExpr& a, const IntExpr& b) { return IntExpr::make(Kind::Mod, a, b); }
IntExpr ceil_div(const IntExpr& a, const IntExpr& b) { return IntExpr::make(Kind::CeilDiv, a, b); }
IntExpr min(const IntExpr& a, const IntExpr& b) { return IntExpr::make(Kind::Min, a, b); }
IntExpr max(const IntExpr& a, const IntExpr& b) { return IntExpr::make(Kind::Max, a, b); }

}  // namespace distal::core
