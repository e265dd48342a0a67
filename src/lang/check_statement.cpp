#include <fmt/format.h>

#include <cmath>
#include <set>

#include "lang/check.h"
#include "lang/check_parts.h"
#include "lang/lexer.h"
#include "lang/same_machine.h"
#include "lang/suggest.h"

namespace distal::core {

namespace {

[[noreturn]] void refuse_unknown(const Access& access, const Module& scope) {
  std::vector<std::string> known;
  for (const Tensor& t : scope.tensors) known.push_back(t.name);
  std::string help = known.empty() ? "no tensor is declared before this; write for instance `tensor A(4, 4)`"
                                   : fmt::format("the tensors declared before this are {}", listing(known));
  if (access.indices.empty()) help += fmt::format("; a scalar is declared by `tensor {}`", access.tensor);
  SourceSpan name = access.span;
  if (is_in_text(name)) name.length = static_cast<int>(access.tensor.size());
  throw Error(fmt::format("unknown tensor `{}`", access.tensor), name, help + did_you_mean(access.tensor, known));
}

void check_literal(const Literal& literal) {
  if (std::isfinite(literal.value)) return;
  throw Error(fmt::format("{} is not a number", to_string(Expr(literal))), literal.span, "literals are finite");
}

// Of the output, the right side reads only the element that is written.
void check_output_read(const Statement& statement) {
  for (const Access& access : accesses(statement.rhs)) {
    if (access.tensor != statement.lhs.tensor || access == statement.lhs) continue;
    throw Error(fmt::format("{} is read while {} is written", to_string(access), to_string(statement.lhs)), access.span,
                fmt::format("of its output a statement reads only the element that it writes, here {}; copy {} to "
                            "another tensor in a statement before, and read that",
                            to_string(statement.lhs), access.tensor));
  }
}

// A statement with `=` defines every element of its output.
void check_left_side(const Statement& statement) {
  const Access& lhs = statement.lhs;
  if (statement.op != AssignOp::Assign || !lhs.is_shifted()) return;
  throw Error(fmt::format("`=` defines all of {0}, and would make the elements that {1} does not reach zero",
                          lhs.tensor, to_string(lhs)),
              lhs.span, "a shifted left side takes `+=` or `-=`");
}

void check_params_in_shifts(const Statement& statement) {
  std::vector<IndexVar> indices = variables(statement);
  for (const Access& access : accesses(statement)) {
    std::set<std::string> params;
    for (size_t d = 0; d < access.indices.size(); ++d) access.offset(d).collect_names(params);
    for (const IndexVar& v : indices) {
      if (params.count(v.name) == 0) continue;
      throw Error(fmt::format("`{}` is a param in {}, and an index of this statement", v.name, to_string(access)),
                  access.span, "give the index another name");
    }
  }
}

void check_machines(const Statement& statement, const Module& scope) {
  if (is_copy(statement)) return;
  const Tensor* first = nullptr;
  for (const Access& access : accesses(statement)) {
    const Tensor* tensor = scope.find_tensor(access.tensor);
    if (!tensor->machine) continue;
    if (first == nullptr) first = tensor;
    if (surely_differ(*first->machine, *tensor->machine))
      refuse_two_machines(first->name, *first->machine, tensor->name, *tensor->machine, access.span);
  }
}

}  // namespace

void check_access(const Access& access, const Module& scope) {
  const Tensor* tensor = scope.find_tensor(access.tensor);
  if (tensor == nullptr) refuse_unknown(access, scope);
  size_t have = access.indices.size(), want = tensor->dimensions.size();
  if (have != want) {
    std::string help = want == 0 ? fmt::format("a scalar is written without indices: `{}`", access.tensor)
                       : want == 1
                           ? fmt::format("give one index for the dimension of {0}, as in `{0}(i)`", access.tensor)
                           : fmt::format("give one index for each of the {} dimensions of {}", want, access.tensor);
    throw Error(fmt::format("{} has {} dimension{}, but {} ind{} given", access.tensor, want, want == 1 ? "" : "s",
                            have, have == 1 ? "ex is" : "ices are"),
                access.span, help);
  }
  for (const IndexVar& v : access.indices) check_name(v.name, "a variable", v.span);
  for (const std::optional<IntExpr>& shift : access.shifts) {
    if (shift) check_int(*shift, scope, access.span);
  }
}

void check_expression(const Expr& expr, const Module& scope, const SourceSpan& otherwise, bool may_name_workspaces) {
  check_length(expr.operators(), otherwise);
  fold(expr,
       Overloaded{[&](const Access& access) {
                    if (!may_name_workspaces || scope.find_tensor(access.tensor)) check_access(access, scope);
                  },
                  [](const Literal& literal) { check_literal(literal); },
                  [&](const ParamUse& param) { check_int(IntExpr::name(param.name, param.span), scope, otherwise); },
                  [](const Negate&) {}, [](const Binary&) {}});
}

void check_statement(const Statement& statement, const Module& scope) {
  check_access(statement.lhs, scope);
  check_expression(statement.rhs, scope, statement.span, false);
  check_left_side(statement);
  check_output_read(statement);
  check_params_in_shifts(statement);
  check_machines(statement, scope);
}

}  // namespace distal::core
