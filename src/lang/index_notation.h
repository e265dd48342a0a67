#pragma once

#include <array>
#include <compare>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

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
  bool operator==(const Access&) const = default;
};

struct Literal {
  double value = 0;
  bool integral = true;  // written without a point or an exponent
  std::string text;      // as the user wrote it
  SourceSpan span;
  bool operator==(const Literal& o) const { return value == o.value && integral == o.integral; }
};

class Expr;
enum class BinaryOp { Add, Subtract, Multiply };
struct Negate;
struct Binary;

// The right side of a statement. Immutable; copies share.
class Expr {
 public:
  using Node = std::variant<Access, Literal, Negate, Binary>;

  Expr(Access access);    // NOLINT: an access is an expression
  Expr(Literal literal);  // NOLINT: and so is a literal
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
// which takes the node and what its operands gave; if the cases return nothing, only the node.
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
                               [&](const Negate& node) -> Result { return with(node, node.operand); },
                               [&](const Binary& node) -> Result { return with(node, node.left, node.right); }},
                    expr.node());
}

enum class AssignOp { Assign, Accumulate };

// A(i, j) = e or A(i, j) += e, with sums implied over the variables that stand only on the right.
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
std::vector<Access> accesses(const Statement& statement);               // the left side's first
std::vector<IndexVar> variables(const Expr& expr);                      // by first appearance
std::vector<IndexVar> variables(const Statement& statement);            // left side first
std::vector<IndexVar> reduction_variables(const Statement& statement);  // those only on the right
std::vector<Term> additive_terms(const Expr& expr);
// Whether the statement only moves elements: A(i, j) = B(j, i), every element of A from one of B.
bool is_copy(const Statement& statement);

std::string to_string(const Access& access);
std::string to_string(const std::vector<IndexVar>& variables);  // "{i, j}"
std::string to_string(const Expr& expr);
std::string to_string(AssignOp op);
std::string to_string(const Statement& statement);

}  // namespace distal::core
