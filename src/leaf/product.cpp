#include "leaf/product.h"

#include <cmath>

namespace distal::core {

namespace {

bool multiply(const Expr& expr, bool integers, Product& product) {
  if (std::holds_alternative<Access>(expr.node())) {
    ++product.factors;
    return true;
  }
  if (const auto* l = std::get_if<Literal>(&expr.node())) {
    product.scale *= integers ? std::trunc(l->value) : l->value;
    return true;
  }
  if (const auto* n = std::get_if<Negate>(&expr.node())) {
    product.scale = -product.scale;
    return multiply(n->operand, integers, product);
  }
  const auto& b = std::get<Binary>(expr.node());
  return b.op == BinaryOp::Multiply && multiply(b.left, integers, product) && multiply(b.right, integers, product);
}

}  // namespace

std::optional<Product> product_of(const LeafTerm& term, ElementType type) {
  constexpr double kExact = 9007199254740992;  // 2^53: integers up to here are exact in a double
  Product out{term.negated ? -1.0 : 1.0, 0};
  if (!multiply(term.expr, is_integer(type), out)) return std::nullopt;
  if (is_integer(type) && !(std::abs(out.scale) < kExact)) return std::nullopt;
  return out;
}

}  // namespace distal::core
