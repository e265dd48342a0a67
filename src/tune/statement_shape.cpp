#include "tune/statement_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lang/ranges.h"
#include "tune/term_products.h"

namespace distal::core {

namespace {

// The accesses of a statement, the output's first, each tensor once.
std::vector<Access> distinct_accesses(const Statement& statement) {
  std::vector<Access> out{statement.lhs};
  for (const Access& access : accesses(statement.rhs)) {
    auto same = [&](const Access& other) { return other.tensor == access.tensor && other.indices == access.indices; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(access);
  }
  return out;
}

}  // namespace

std::string cannot_search(const Statement& statement) {
  std::set<std::string> seen;
  for (const Access& access : distinct_accesses(statement)) {
    if (!seen.insert(access.tensor).second) {
      return fmt::format("{} is accessed with different indices", access.tensor);
    }
    if (access.is_shifted()) return fmt::format("{} has shifted indices", to_string(access));
    std::set<IndexVar> distinct(access.indices.begin(), access.indices.end());
    if (distinct.size() < access.indices.size()) return fmt::format("{} repeats an index", to_string(access));
  }
  return {};
}

StatementShape shape_of(const Module& module, const Statement& statement, const Bindings& params) {
  StatementShape shape;
  std::map<std::string, IntExpr> extents = variable_extents(module, statement);
  for (const IndexVar& v : variables(statement)) {
    shape.indices.push_back(v.name);
    shape.extents.push_back(extents.at(v.name).evaluate(params));
  }
  for (const Access& access : distinct_accesses(statement)) {
    ShapeTensor tensor{access.tensor, {}, size_of(module.type)};
    for (const IndexVar& v : access.indices) {
      auto index = std::find(shape.indices.begin(), shape.indices.end(), v.name);
      tensor.indices.push_back(static_cast<int>(index - shape.indices.begin()));
    }
    shape.tensors.push_back(std::move(tensor));
  }
  double points = 1;
  for (int64_t extent : shape.extents) points *= static_cast<double>(std::max<int64_t>(extent, 1));
  shape.flops_per_point = kernel_flops(statement, shape.extents) / points;
  return shape;
}

}  // namespace distal::core
