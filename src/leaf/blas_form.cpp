#include "leaf/blas_form.h"

#include <fmt/format.h>

#include <algorithm>

#include "leaf/product.h"

namespace distal::core {

namespace {

bool has(const LeafOperand& operand, int v) {
  return std::find(operand.indices.begin(), operand.indices.end(), v) != operand.indices.end();
}

}  // namespace

BlasForm blas_form(const Compute& compute, const LeafTerm& term, const std::vector<std::string>& names,
                   ElementType type) {
  if (is_integer(type)) return {"", "there is no BLAS for integers"};
  if (!compute.accumulate) return {"", "it assigns and does not add"};
  std::optional<Product> product = product_of(term, type);
  if (!product || product->factors != 2)
    return {"", fmt::format("{} is not a product of two tensors", to_string(term.expr))};

  const LeafOperand& output = compute.operands[0];
  const LeafOperand &left = compute.operands[term.first_operand], &right = compute.operands[term.first_operand + 1];
  IndicesByRole<std::vector<int>> indices;
  for (const LeafOperand* o : {&output, &left, &right}) {
    for (int v : o->indices) {
      std::optional<IndexRole> role = role_of(has(output, v), has(left, v), has(right, v));
      if (!role) return {"", fmt::format("{} occurs in one tensor only", names[v])};
      indices.of(*role).push_back(v);
    }
  }
  return {blas_name(indices), ""};
}

}  // namespace distal::core
