#include "schedule/gemm_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "schedule/checks.h"

namespace distal::core {

namespace {

using Match = std::variant<GemmShape, std::string>;  // the shape, or why there is none

bool uses(const Access& access, const IndexVar& v) {
  return std::count(access.indices.begin(), access.indices.end(), v) == 1;
}
bool mentions(const Access& access, const IndexVar& v) {
  return std::count(access.indices.begin(), access.indices.end(), v) > 0;
}

Match match(const Nest& nest, const std::vector<IndexVar>& loops) {
  const Assignment& a = assignment_of(nest);
  const auto* product = std::get_if<Binary>(&a.rhs.node());
  const Access* b = product ? std::get_if<Access>(&product->left.node()) : nullptr;
  const Access* c = product ? std::get_if<Access>(&product->right.node()) : nullptr;
  if (!product || product->op != BinaryOp::Multiply || !b || !c) {
    return fmt::format("{} is not a product of two tensors", to_string(a.rhs));
  }
  if (loops.size() != 3) return fmt::format("it takes 3 loops, and {} are named", loops.size());

  std::vector<IndexVar> from;
  for (const IndexVar& loop : loops) {
    std::vector<IndexVar> origin = origins(nest, loop);
    if (origin.size() != 1) return fmt::format("loop {} is a collapse of several indices", loop.name);
    if (std::find(from.begin(), from.end(), origin[0]) != from.end()) {
      return fmt::format("two of the loops run over {}", origin[0].name);
    }
    from.push_back(origin[0]);
  }
  GemmShape shape{from[0], from[0], from[0], a.lhs, *b, *c};
  int rows = 0, columns = 0, sums = 0;
  for (const IndexVar& v : from) {
    bool in_a = uses(a.lhs, v), in_b = uses(*b, v), in_c = uses(*c, v);
    if (in_a && in_b && !mentions(*c, v)) {
      shape.rows = v;
      ++rows;
    } else if (in_a && in_c && !mentions(*b, v)) {
      shape.columns = v;
      ++columns;
    } else if (in_b && in_c && !mentions(a.lhs, v)) {
      shape.sum = v;
      ++sums;
    } else {
      return fmt::format("{} must stand once in exactly two of {}, {} and {}", v.name, to_string(a.lhs), to_string(*b),
                         to_string(*c));
    }
  }
  if (rows != 1 || columns != 1 || sums != 1) {
    return std::string("of its loops one must run over rows, one over columns and one over the sum");
  }
  return shape;
}

}  // namespace

GemmShape gemm_shape(const Nest& nest, const std::vector<IndexVar>& variables) {
  Match m = match(nest, variables);
  if (const auto* why = std::get_if<std::string>(&m)) throw InternalError("gemm_shape: " + *why);
  return std::get<GemmShape>(m);
}

std::string why_not_gemm(const Nest& nest, const std::vector<IndexVar>& variables) {
  Match m = match(nest, variables);
  const auto* why = std::get_if<std::string>(&m);
  return why ? *why : "";
}

}  // namespace distal::core
