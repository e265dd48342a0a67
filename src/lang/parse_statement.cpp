#include "lang/parse_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lang/foreign.h"
#include "lang/parse_int.h"

namespace distal::core {

namespace {

class StatementParser {
 public:
  StatementParser(TokenStream& tokens, const Module& module, std::vector<std::string> workspaces)
      : tokens_(tokens), module_(module), workspaces_(std::move(workspaces)) {}

  Statement run() {
    const Token first = tokens_.peek();
    Access lhs = access();
    AssignOp op = assign_op(lhs);
    refuse_foreign_assignment(tokens_);
    Expr rhs = sum();
    return {std::move(lhs), op, std::move(rhs), tokens_.span_from(first)};
  }

  Access access() {
    const Token name = tokens_.expect_identifier("a tensor");
    Access access;
    access.tensor = std::string(name.text);
    if (!is_workspace(access.tensor)) refuse_foreign_access(tokens_, name, module_);
    if (tokens_.peek().is("(")) tokens_.list("(", "`(`", [&] { add_index(access); });
    access.span = tokens_.span_from(name);
    return access;
  }

  Expr sum() {
    auto level = limits_.enter(tokens_.peek());
    Expr value = term();
    while (tokens_.peek().is("+") || tokens_.peek().is("-")) {
      const Token& op = tokens_.next();
      limits_.count_operator(op);
      BinaryOp kind = op.is("+") ? BinaryOp::Add : BinaryOp::Subtract;
      value = Expr::binary(kind, std::move(value), term());
    }
    return value;
  }

 private:
  AssignOp assign_op(const Access& lhs) {
    if (tokens_.accept("=")) return AssignOp::Assign;
    if (tokens_.accept("+=")) return AssignOp::Accumulate;
    if (tokens_.accept("-=")) return AssignOp::Subtract;
    refuse_foreign_assign_operator(tokens_, to_string(lhs));
    tokens_.refuse(fmt::format("`=`, `+=` or `-=` after `{}`", to_string(lhs)),
                   "a statement is for instance `A(i, j) = B(i, k) * C(k, j)`; only `=`, `+=` and `-=` assign");
  }

  // A minus in front of a product negates the product: -b * c is -(b * c), one negated term.
  Expr term() {
    const Token first = tokens_.peek();
    if (!tokens_.accept("-")) return product();
    auto level = limits_.enter(first);
    limits_.count_operator(first);
    return Expr::negate(term());
  }

  Expr product() {
    Token first = tokens_.peek();
    Expr value = factor();
    while (tokens_.peek().is("*")) {
      limits_.count_operator(tokens_.next());
      first = tokens_.peek();
      value = Expr::binary(BinaryOp::Multiply, std::move(value), factor());
    }
    refuse_foreign_operator(tokens_, first);
    return value;
  }

  Expr factor() {
    const Token first = tokens_.peek();
    if (first.kind == Token::Kind::Number) return literal(tokens_.next());
    if (first.is_identifier()) return is_param(first) ? Expr(param()) : Expr(access());
    if (!first.is("-") && !first.is("(")) {
      refuse_foreign_factor(tokens_);
      tokens_.refuse("a tensor, a param or a number");
    }
    auto level = limits_.enter(first);
    tokens_.next();
    if (first.is("-")) {
      limits_.count_operator(first);
      return Expr::negate(factor());
    }
    Expr value = sum();
    tokens_.expect_close(first, "an operator");
    return value;
  }

  // A name without indices is a tensor, else a workspace, else a param.
  bool is_param(const Token& name) const {
    std::string text(name.text);
    if (tokens_.peek(1).is("(") || module_.find_tensor(text) != nullptr || is_workspace(text)) return false;
    return std::any_of(module_.params.begin(), module_.params.end(), [&](const Param& p) { return p.name == text; });
  }

  bool is_workspace(const std::string& name) const {
    return std::find(workspaces_.begin(), workspaces_.end(), name) != workspaces_.end();
  }

  ParamUse param() {
    const Token& name = tokens_.next();
    return {std::string(name.text), name.span};
  }

  static Expr literal(const Token& token) {
    Literal literal;
    literal.text = std::string(token.text);
    literal.span = token.span;
    literal.integral = token.text.find_first_of(".eE") == std::string_view::npos;
    if (literal.integral) integer_value(token);  // refuses what does not fit
    const char* end = token.text.data() + token.text.size();
    auto result = std::from_chars(token.text.data(), end, literal.value);
    if (result.ec != std::errc() || !std::isfinite(literal.value)) {
      throw Error(fmt::format("{} is outside the range of a double", token.text), token.span,
                  "literals lie between 2.3e-308 and 1.7e308");
    }
    return literal;
  }

  void add_index(Access& access) {
    refuse_foreign_index(tokens_, module_);
    if (!tokens_.peek().is_identifier())
      tokens_.refuse("an index variable",
                     "an index is a name, as in `B(i, k)`, or a shifted name, as in `B(i, k + 1)`");
    const Token& token = tokens_.next();
    access.indices.push_back({std::string(token.text), token.span});
    if (std::optional<IntExpr> by = shift()) {
      access.shifts.resize(access.indices.size());
      access.shifts.back() = *by;
    } else if (access.is_shifted()) {
      access.shifts.emplace_back();
    }
  }

  // What follows an index: `+ no` or `- 1`.
  std::optional<IntExpr> shift() {
    if (!tokens_.peek().is("-") && !tokens_.accept("+")) return std::nullopt;
    return parse_int_expr(tokens_);
  }

  TokenStream& tokens_;
  const Module& module_;  // what was declared before
  std::vector<std::string> workspaces_;
  ExpressionLimits limits_;
};

}  // namespace

Statement parse_statement(TokenStream& tokens, const Module& module) {
  return StatementParser(tokens, module, {}).run();
}

Access parse_access(TokenStream& tokens, const Module& module) { return StatementParser(tokens, module, {}).access(); }

Expr parse_expression(TokenStream& tokens, const Module& module, std::vector<std::string> workspaces) {
  return StatementParser(tokens, module, std::move(workspaces)).sum();
}

}  // namespace distal::core
