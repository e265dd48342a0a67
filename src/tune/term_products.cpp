#include "tune/term_products.h"

#include <algorithm>

namespace distal::core {

namespace {

// The factors of a product from left to right. What is no product is one factor.
std::vector<Expr> factors_of(const Expr& expr) {
  const auto* binary = std::get_if<Binary>(&expr.node());
  if (binary == nullptr || binary->op != BinaryOp::Multiply) return {expr};
  std::vector<Expr> out = factors_of(binary->left);
  for (Expr& factor : factors_of(binary->right)) out.push_back(std::move(factor));
  return out;
}

}  // namespace

std::vector<TermProduct> term_products(const Statement& statement, const std::vector<int64_t>& extents) {
  std::vector<IndexVar> indices = variables(statement);
  auto numbers = [&](const std::vector<IndexVar>& variables) {
    std::vector<int> out;
    for (const IndexVar& v : variables) {
      auto number = static_cast<int>(std::find(indices.begin(), indices.end(), v) - indices.begin());
      if (std::find(out.begin(), out.end(), number) == out.end()) out.push_back(number);
    }
    return out;
  };
  std::vector<TermProduct> out;
  for (const Term& term : additive_terms(statement.rhs)) {
    TermProduct made{{}, {{}, numbers(statement.lhs.indices), extents}};
    for (const Expr& factor : factors_of(term.expr)) {
      if (accesses(factor).empty()) continue;
      made.factors.push_back(factor);
      made.product.factors.push_back(numbers(variables(factor)));
    }
    out.push_back(std::move(made));
  }
  return out;
}

double kernel_flops(const Statement& statement, const std::vector<int64_t>& extents) {
  std::vector<TermProduct> terms = term_products(statement, extents);
  double flops = 0, added = static_cast<double>(terms.size()) - (accumulates(statement.op) ? 0 : 1);
  for (const TermProduct& term : terms) flops += kernel_flops(term.product.factors, term.product.result, extents);
  double elements = 1;
  if (!terms.empty()) {
    for (int index : terms[0].product.result) elements *= static_cast<double>(extents[static_cast<size_t>(index)]);
  }
  return flops + added * elements;
}

}  // namespace distal::core
