#include "schedule/match_part.h"

#include <algorithm>
#include <vector>

namespace distal::core {

namespace {

using Factors = std::vector<Expr>;

Factors factors(const Expr& expr) {
  return fold(expr, Overloaded{[](const Access& access) { return Factors{access}; },
                               [](const Literal& literal) { return Factors{literal}; },
                               [](const ParamUse& param) { return Factors{param}; },
                               [](const Negate& n, const Factors&) { return Factors{Expr::negate(n.operand)}; },
                               [](const Binary& b, Factors left, const Factors& right) {
                                 if (b.op != BinaryOp::Multiply) return Factors{Expr::binary(b.op, b.left, b.right)};
                                 left.insert(left.end(), right.begin(), right.end());
                                 return left;
                               }});
}

// Puts `with` in the position of the first replaced factor. The other factors keep their order.
std::optional<Expr> replace_factors(const Expr& product, const Expr& part, const Access& with) {
  Factors unmatched = factors(part), rest;
  std::optional<size_t> position;
  for (const Expr& factor : factors(product)) {
    auto found = std::find(unmatched.begin(), unmatched.end(), factor);
    if (found == unmatched.end()) {
      rest.push_back(factor);
      continue;
    }
    unmatched.erase(found);
    if (!position) position = rest.size();
  }
  if (!unmatched.empty() || !position) return std::nullopt;
  rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(*position), Expr(with));
  Expr out = rest[0];
  for (size_t i = 1; i < rest.size(); ++i) out = Expr::binary(BinaryOp::Multiply, out, rest[i]);
  return out;
}

}  // namespace

std::optional<ReplacedPart> replace_part(const Expr& rhs, const Expr& part, const Access& with) {
  using Replaced = std::optional<ReplacedPart>;
  if (rhs == part) return ReplacedPart{Expr(with), false};
  auto in_negation = [&](const Negate& n) -> Replaced {
    Replaced inside = replace_part(n.operand, part, with);
    if (!inside) return std::nullopt;
    return ReplacedPart{Expr::negate(inside->rhs), inside->in_product};
  };
  auto in_binary = [&](const Binary& b) -> Replaced {
    if (b.op == BinaryOp::Multiply) {
      std::optional<Expr> made = replace_factors(rhs, part, with);
      return made ? Replaced(ReplacedPart{*made, true}) : std::nullopt;
    }
    if (Replaced left = replace_part(b.left, part, with)) {
      return ReplacedPart{Expr::binary(b.op, left->rhs, b.right), left->in_product};
    }
    if (Replaced right = replace_part(b.right, part, with)) {
      return ReplacedPart{Expr::binary(b.op, b.left, right->rhs), right->in_product};
    }
    return std::nullopt;
  };
  return std::visit(Overloaded{[](const Access&) { return Replaced(); }, [](const Literal&) { return Replaced(); },
                               [](const ParamUse&) { return Replaced(); }, in_negation, in_binary},
                    rhs.node());
}

Expr map_accesses(const Expr& expr, const std::function<Access(Access)>& map) {
  return fold(
      expr, Overloaded{
                [&](const Access& access) { return Expr(map(access)); },
                [](const Literal& literal) { return Expr(literal); }, [](const ParamUse& param) { return Expr(param); },
                [](const Negate&, const Expr& operand) { return Expr::negate(operand); },
                [](const Binary& b, const Expr& left, const Expr& right) { return Expr::binary(b.op, left, right); }});
}

Expr rename_indices(const Expr& expr, const std::function<IndexVar(const IndexVar&)>& rename) {
  return map_accesses(expr, [&](Access access) {
    for (IndexVar& v : access.indices) v = rename(v);
    return access;
  });
}

}  // namespace distal::core
