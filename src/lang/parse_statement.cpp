#include "lang/parse_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lang/foreign.h"
#include "lang/parse_int.h"
#include "lang/same_machine.h"
#include "lang/suggest.h"

namespace distal::core {

namespace {

class StatementParser {
 public:
  StatementParser(TokenStream& tokens, const Module& module) : tokens_(tokens), module_(module) {}

  Statement run() {
    const Token first = tokens_.peek();
    Access lhs = access();
    AssignOp op = assign_op(lhs);
    refuse_foreign_assignment(tokens_);
    Expr rhs = sum();
    return {std::move(lhs), op, std::move(rhs), tokens_.span_from(first)};
  }

  Expr expression() {
    may_name_workspaces_ = true;
    return sum();
  }

 private:
  AssignOp assign_op(const Access& lhs) {
    if (tokens_.accept("=")) return AssignOp::Assign;
    if (tokens_.accept("+=")) return AssignOp::Accumulate;
    tokens_.refuse(fmt::format("`=` or `+=` after `{}`", to_string(lhs)),
                   "a statement is for instance `A(i, j) = B(i, k) * C(k, j)`; only `=` and `+=` assign");
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
    if (first.is_identifier()) return access();
    if (!first.is("-") && !first.is("(")) {
      refuse_foreign_factor(tokens_);
      tokens_.refuse("a tensor or a number");
    }
    auto level = limits_.enter(first);
    tokens_.next();
    if (first.is("-")) {
      limits_.count_operator(first);
      return Expr::negate(factor());
    }
    Expr value = sum();
    tokens_.expect_close(first);
    return value;
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

  Access access() {
    const Token name = tokens_.expect_identifier("a tensor");
    Access access;
    access.tensor = std::string(name.text);
    refuse_foreign_access(tokens_, name, module_);
    if (tokens_.peek().is("(")) tokens_.list("(", "`(`", [&] { access.indices.push_back(index()); });
    access.span = tokens_.span_from(name);
    check_access(access, name);
    return access;
  }

  IndexVar index() {
    refuse_foreign_index(tokens_, module_);
    if (!tokens_.peek().is_identifier())
      tokens_.refuse("an index variable", "an index is a plain name, as in `B(i, k)`");
    const Token& token = tokens_.next();
    return {std::string(token.text), token.span};
  }

  void check_access(const Access& access, const Token& name) const {
    const Tensor* tensor = module_.find_tensor(access.tensor);
    if (tensor == nullptr && may_name_workspaces_) return;
    if (tensor == nullptr) refuse_unknown(access.tensor, name);
    size_t have = access.indices.size(), want = tensor->dimensions.size();
    if (have == want) return;
    std::string help = want == 0 ? fmt::format("a scalar is written without indices: `{}`", access.tensor)
                       : want == 1
                           ? fmt::format("give one index for the dimension of {0}, as in `{0}(i)`", access.tensor)
                           : fmt::format("give one index for each of the {} dimensions of {}", want, access.tensor);
    throw Error(fmt::format("{} has {} dimension{}, but {} ind{} given", access.tensor, want, want == 1 ? "" : "s",
                            have, have == 1 ? "ex is" : "ices are"),
                access.span, help);
  }

  [[noreturn]] void refuse_unknown(const std::string& tensor, const Token& name) const {
    std::vector<std::string> known;
    for (const Tensor& t : module_.tensors) known.push_back(t.name);
    std::string help = known.empty() ? "no tensor is declared before this; write for instance `tensor A(4, 4)`"
                                     : fmt::format("the tensors declared before this are {}", listing(known));
    if (!tokens_.previous().is(")")) help += fmt::format("; a scalar is declared by `tensor {}`", tensor);
    throw Error(fmt::format("unknown tensor `{}`", tensor), name.span, help + did_you_mean(tensor, known));
  }

  TokenStream& tokens_;
  const Module& module_;
  ExpressionLimits limits_;
  bool may_name_workspaces_ = false;
};

void check_output_indices(const Statement& statement) {
  std::vector<IndexVar> right = variables(statement.rhs);
  for (const IndexVar& v : statement.lhs.indices) {
    if (std::find(right.begin(), right.end(), v) != right.end()) continue;
    std::vector<std::string> names;
    for (const IndexVar& r : right) names.push_back(r.name);
    throw Error(
        fmt::format("index `{}` of the output {} does not appear on the right side", v.name, to_string(statement.lhs)),
        v.span,
        names.empty() ? "the right side has no indices; an output index must come from a tensor there"
                      : fmt::format("the indices of the right side are {}", listing(names)));
  }
}

void check_output_not_read(const Statement& statement) {
  for (const Access& access : accesses(statement.rhs)) {
    if (access.tensor != statement.lhs.tensor) continue;
    throw Error(fmt::format("{} is both the output and read on the right side", access.tensor), access.span,
                fmt::format("use `+=` to add to {}, or write the result to another tensor", access.tensor));
  }
}

void check_machines(const Statement& statement, const Module& module) {
  if (is_copy(statement)) return;
  const Tensor* first = nullptr;
  std::vector<Access> all = accesses(statement.rhs);
  all.insert(all.begin(), statement.lhs);
  for (const Access& access : all) {
    const Tensor* tensor = module.find_tensor(access.tensor);
    if (!tensor->machine) continue;
    if (first == nullptr) first = tensor;
    if (surely_differ(*first->machine, *tensor->machine))
      refuse_two_machines(first->name, *first->machine, tensor->name, *tensor->machine, access.span);
  }
}

}  // namespace

Expr parse_expression(TokenStream& tokens, const Module& module) {
  return StatementParser(tokens, module).expression();
}

Statement parse_statement(TokenStream& tokens, const Module& module) {
  Statement statement = StatementParser(tokens, module).run();
  check_output_indices(statement);
  check_output_not_read(statement);
  check_machines(statement, module);
  return statement;
}

}  // namespace distal::core
