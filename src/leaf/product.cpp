#include "leaf/product.h"

#include <cmath>

namespace distal::core {

namespace {

using Maybe = std::optional<Product>;

Maybe multiply(const Maybe& a, const Maybe& b) {
  return a && b ? Maybe(Product{a->scale * b->scale, a->factors + b->factors}) : std::nullopt;
}

Maybe as_product(const Expr& expr, bool integers) {
  return fold(expr, Overloaded{[](const Access&) {
                                 return Maybe(Product{1, 1});
                               },
                               [&](const Literal& l) {
                                 return Maybe(Product{integers ? std::trunc(l.value) : l.value, 0});
                               },
                               [](const Negate&, const Maybe& x) {
                                 return multiply(Product{-1, 0}, x);
                               },
                               [](const Binary& b, const Maybe& left, const Maybe& right) {
                                 return b.op == BinaryOp::Multiply ? multiply(left, right) : std::nullopt;
                               }});
}

}  // namespace

std::optional<Product> product_of(const LeafTerm& term, ElementType type) {
  constexpr double kExact = 9007199254740992;  // 2^53: integers up to here are exact in a double
  Maybe out = multiply(Product{term.negated ? -1.0 : 1.0, 0}, as_product(term.expr, is_integer(type)));
  if (out && is_integer(type) && !(std::abs(out->scale) < kExact)) return std::nullopt;
  return out;
}

}  // namespace distal::core
