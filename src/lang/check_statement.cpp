#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lang/check.h"
#include "lang/check_parts.h"
#include "lang/lexer.h"
#include "lang/same_machine.h"
#include "lang/suggest.h"

namespace distal::core {

namespace {

// A param and a machine are no tensors.
void refuse_other_kind(const Access& access, const Module& scope, const SourceSpan& name) {
  auto is_named = [&](const auto& item) { return item.name == access.tensor; };
  if (std::any_of(scope.params.begin(), scope.params.end(), is_named)) {
    throw Error(
        fmt::format("`{}` is a param, and not a tensor", access.tensor), name,
        access.indices.empty()
            ? fmt::format("its value stands in its declaration, `param {0} = ...`, or after --set", access.tensor)
            : fmt::format("a param is written without indices, `{}`", access.tensor));
  }
  if (std::any_of(scope.machines.begin(), scope.machines.end(), is_named)) {
    throw Error(fmt::format("`{}` is a machine, and not a tensor", access.tensor), name,
                "a statement computes with tensors, params and numbers");
  }
}

// For `A_ij` in place of `A(i, j)`.
std::string help_on_subscripts(const std::string& name, const Module& scope) {
  size_t bar = name.find('_');
  const Tensor* tensor = scope.find_tensor(name.substr(0, bar));
  if (bar == std::string::npos || !tensor || name.size() - bar - 1 != tensor->dimensions.size()) return "";
  return fmt::format("; indices stand in parentheses: write `{}({})`", tensor->name,
                     fmt::join(name.begin() + static_cast<std::ptrdiff_t>(bar) + 1, name.end(), ", "));
}

[[noreturn]] void refuse_unknown(const Access& access, const Module& scope) {
  std::vector<std::string> known;
  for (const Tensor& t : scope.tensors) known.push_back(t.name);
  std::string help = known.empty() ? "no tensor is declared before this; write for instance `tensor A(4, 4)`"
                                   : fmt::format("the tensors declared before this are {}", listing(known));
  SourceSpan name = access.span;
  if (is_in_text(name)) name.length = static_cast<int>(access.tensor.size());
  refuse_other_kind(access, scope, name);
  std::string subscripts = help_on_subscripts(access.tensor, scope);
  if (access.indices.empty() && subscripts.empty()) {
    help += fmt::format("; a scalar is declared by `tensor {0}`, an integer by `param {0} = ...`", access.tensor);
  }
  help += subscripts;
  throw Error(fmt::format("unknown tensor `{}`", access.tensor), name,
              help + (subscripts.empty() ? did_you_mean(access.tensor, known) : ""));
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

void check_no_index_is_a_number(const Statement& statement, const Module& scope) {
  std::vector<IndexVar> indices = variables(statement);
  for (const Access& access : accesses(statement.rhs)) {
    bool is_index =
        std::any_of(indices.begin(), indices.end(), [&](const IndexVar& v) { return v.name == access.tensor; });
    if (!is_index || !access.indices.empty() || scope.find_tensor(access.tensor)) continue;
    throw Error(fmt::format("`{}` is an index, and its value is no number of the statement", access.tensor),
                access.span, fmt::format("multiply by a tensor that holds 0, 1, 2, ..., as in `x({})`", access.tensor));
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
    if (have == 1 && want > 1 && access.indices[0].name.size() == want) {
      help += fmt::format("; `{0}` is one name: write `{1}({2})`", access.indices[0].name, access.tensor,
                          fmt::join(access.indices[0].name, ", "));
    }
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
  check_no_index_is_a_number(statement, scope);
  check_expression(statement.rhs, scope, statement.span, false);
  check_left_side(statement);
  check_output_read(statement);
  check_params_in_shifts(statement);
  check_machines(statement, scope);
}

}  // namespace distal::core
