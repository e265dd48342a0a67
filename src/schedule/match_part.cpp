#include "schedule/match_part.h"

#include <algorithm>
#include <vector>

namespace distal::core {

namespace {

const Binary* product_of(const Expr& expr) {
  const auto* b = std::get_if<Binary>(&expr.node());
  return b && b->op == BinaryOp::Multiply ? b : nullptr;
}

void add_factors(const Expr& expr, std::vector<Expr>& out) {
  if (const Binary* b = product_of(expr)) {
    add_factors(b->left, out);
    add_factors(b->right, out);
  } else {
    out.push_back(expr);
  }
}

std::vector<Expr> factors(const Expr& expr) {
  std::vector<Expr> out;
  add_factors(expr, out);
  return out;
}

// Puts `with` in the position of the first replaced factor. The other factors keep their order.
std::optional<Expr> replace_factors(const Expr& product, const Expr& part, const Access& with) {
  std::vector<Expr> unmatched = factors(part), rest;
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
  if (rhs == part) return ReplacedPart{Expr(with), false};
  if (const auto* n = std::get_if<Negate>(&rhs.node())) {
    auto inside = replace_part(n->operand, part, with);
    if (!inside) return std::nullopt;
    return ReplacedPart{Expr::negate(inside->rhs), inside->in_product};
  }
  const auto* b = std::get_if<Binary>(&rhs.node());
  if (!b) return std::nullopt;
  if (b->op == BinaryOp::Multiply) {
    auto made = replace_factors(rhs, part, with);
    if (!made) return std::nullopt;
    return ReplacedPart{*made, true};
  }
  if (auto left = replace_part(b->left, part, with)) {
    return ReplacedPart{Expr::binary(b->op, left->rhs, b->right), left->in_product};
  }
  if (auto right = replace_part(b->right, part, with)) {
    return ReplacedPart{Expr::binary(b->op, b->left, right->rhs), right->in_product};
  }
  return std::nullopt;
}

Expr rename_indices(const Expr& expr, const std::function<IndexVar(const IndexVar&)>& rename) {
  if (const auto* a = std::get_if<Access>(&expr.node())) {
    Access access = *a;
    for (IndexVar& v : access.indices) v = rename(v);
    return access;
  }
  if (const auto* n = std::get_if<Negate>(&expr.node())) return Expr::negate(rename_indices(n->operand, rename));
  if (const auto* b = std::get_if<Binary>(&expr.node())) {
    return Expr::binary(b->op, rename_indices(b->left, rename), rename_indices(b->right, rename));
  }
  return expr;
}

}  // namespace distal::core
