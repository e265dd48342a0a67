#pragma once

#include <array>
#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "lang/int_expr.h"
#include "support/error.h"
#include "support/overloaded.h"

namespace distal::core {

// A variable of index notation or a loop made from one; known by its name, which is unique in a statement.
struct IndexVar {
  std::string name;
  SourceSpan span;

  friend bool operator==(const IndexVar& a, const IndexVar& b) { return a.name == b.name; }
  friend std::strong_ordering operator<=>(const IndexVar& a, const IndexVar& b) { return a.name <=> b.name; }
};

struct Access {
  std::string tensor;
  std::vector<IndexVar> indices;
  SourceSpan span;
  // By index, what is added to it, as in B(i, a + no). `i + 0` is shifted, `i` is not. Empty if no index is shifted.
  std::vector<std::optional<IntExpr>> shifts = {};
  bool operator==(const Access& o) const { return tensor == o.tensor && indices == o.indices && shifts == o.shifts; }

  bool is_shifted() const { return !shifts.empty(); }
  bool is_shifted(size_t dimension) const { return is_shifted() && shifts[dimension].has_value(); }
  IntExpr offset(size_t dimension) const { return is_shifted(dimension) ? *shifts[dimension] : IntExpr(0); }
};

struct Literal {
  double value = 0;
  bool integral = true;  // written without a point or an exponent
  std::string text;      // as the user wrote it
  SourceSpan span;
  bool operator==(const Literal& o) const { return value == o.value && integral == o.integral; }
};

// The value of a param, as an element of the program's type.
struct ParamUse {
  std::string name;
  SourceSpan span;
  bool operator==(const ParamUse& o) const { return name == o.name; }
};

class Expr;
enum class BinaryOp { Add, Subtract, Multiply };
struct Negate;
struct Binary;

// The right side of a statement. Immutable; copies share.
class Expr {
 public:
  using Node = std::variant<Access, Literal, ParamUse, Negate, Binary>;

  Expr(Access access);    // NOLINT: an access is an expression
  Expr(Literal literal);  // NOLINT: and so is a literal
  Expr(ParamUse param);   // NOLINT: and a param
  static Expr negate(Expr operand);
  static Expr binary(BinaryOp op, Expr left, Expr right);

  const Node& node() const;
  int64_t operators() const { return operators_; }
  friend bool operator==(const Expr& a, const Expr& b);

 private:
  Expr(std::shared_ptr<const Node> node, int64_t operators);
  std::shared_ptr<const Node> node_;
  int64_t operators_ = 0;
};

struct Negate {
  Expr operand;
  bool operator==(const Negate&) const = default;
};
struct Binary {
  BinaryOp op;
  Expr left;
  Expr right;
  bool operator==(const Binary&) const = default;
};

inline const Expr::Node& Expr::node() const { return *node_; }

// Computes something of an expression: operands first, left before right. `cases` has one case for each kind of node,
// which takes the node and what its operands gave; if the cases return nothing, only the node. A case for ParamUse is
// left out where the params of the program have got their values, which makes them literals.
template <class Cases>
auto fold(const Expr& expr, const Cases& cases) -> std::invoke_result_t<const Cases&, const Access&> {
  using Result = std::invoke_result_t<const Cases&, const Access&>;
  auto with = [&](const auto& node, const auto&... operands) -> Result {
    if constexpr (std::is_void_v<Result>) {
      (fold(operands, cases), ...);
      cases(node);
    } else {
      std::array<Result, sizeof...(operands)> values{fold(operands, cases)...};
      return std::apply([&](auto&... value) -> Result { return cases(node, std::move(value)...); }, values);
    }
  };
  return std::visit(Overloaded{[&](const Access& node) -> Result { return with(node); },
                               [&](const Literal& node) -> Result { return with(node); },
                               [&](const ParamUse& node) -> Result {
                                 if constexpr (std::is_invocable_v<const Cases&, const ParamUse&>) {
                                   return with(node);
                                 } else {
                                   throw InternalError("the param " + node.name + " has no value here");
                                 }
                               },
                               [&](const Negate& node) -> Result { return with(node, node.operand); },
                               [&](const Binary& node) -> Result { return with(node, node.left, node.right); }},
                    expr.node());
}

enum class AssignOp { Assign, Accumulate, Subtract };

// Whether the output keeps what it held: += and -=.
inline bool accumulates(AssignOp op) { return op != AssignOp::Assign; }

// A(i, j) = e, or with += or -=, with sums implied over the variables that stand only on the right. `-=` subtracts the
// whole right side.
struct Statement {
  Access lhs;
  AssignOp op = AssignOp::Assign;
  Expr rhs;
  SourceSpan span;
  bool operator==(const Statement&) const = default;
};

// One addend of the right side with its sign; "b - (c + d)" has the terms +b, -c, -d.
struct Term {
  bool negated = false;
  Expr expr;
};

std::vector<Access> accesses(const Expr& expr);                         // left to right, repeats included
std::vector<Access> accesses(const Statement& statement);               // the left side first
std::vector<IndexVar> variables(const Expr& expr);                      // by first appearance
std::vector<IndexVar> variables(const Statement& statement);            // left side first
std::vector<IndexVar> reduction_variables(const Statement& statement);  // those only on the right
std::vector<Term> additive_terms(const Expr& expr);
std::vector<Term> additive_terms(const Statement& statement);  // as they are added to the output: negated by -=
bool reads_output(const Statement& statement);
// Whether the statement only moves elements: A(i, j) = B(j, i), every element of A from one of B.
bool is_copy(const Statement& statement);

std::string to_string(const Access& access);
std::string to_string(const std::vector<IndexVar>& variables);  // "{i, j}"
std::string to_string(const Expr& expr);
std::string to_string(AssignOp op);
std::string to_string(const Statement& statement);

}  // namespace distal::core
