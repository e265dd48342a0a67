#include "lang/index_notation.h"

#include <fmt/format.h>

#include <algorithm>

namespace distal::core {

namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

void collect_accesses(const Expr& expr, std::vector<Access>& out) {
  std::visit(Overloaded{[&](const Access& access) { out.push_back(access); }, [](const Literal&) {},
                        [&](const Negate& negate) { collect_accesses(negate.operand, out); },
                        [&](const Binary& binary) {
                          collect_accesses(binary.left, out);
                          collect_accesses(binary.right, out);
                        }},
             expr.node());
}

void add_new(const std::vector<IndexVar>& candidates, std::vector<IndexVar>& out) {
  for (const IndexVar& v : candidates) {
    if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
  }
}

void collect_terms(const Expr& expr, bool negated, std::vector<Term>& out) {
  std::visit(Overloaded{[&](const Negate& negate) { collect_terms(negate.operand, !negated, out); },
                        [&](const Binary& binary) {
                          if (binary.op == BinaryOp::Multiply) {
                            out.push_back({negated, expr});
                            return;
                          }
                          collect_terms(binary.left, negated, out);
                          collect_terms(binary.right, negated != (binary.op == BinaryOp::Subtract), out);
                        },
                        [&](const auto&) {
                          out.push_back({negated, expr});
                        }},
             expr.node());
}

std::string literal_text(const Literal& literal) {
  if (!literal.text.empty()) return literal.text;
  std::string text = fmt::format("{}", literal.value);
  bool looks_integral = text.find_first_of(".en") == std::string::npos;
  return looks_integral && !literal.integral ? text + ".0" : text;
}

// Where an operand stands decides whether it needs parentheses to be read back as the same tree.
enum class Place { Top, SumLeft, SumRight, Negated, Factor, FactorRight };

bool needs_parentheses(const Expr& expr, Place place) {
  return std::visit(Overloaded{[&](const Negate&) { return place != Place::Top && place != Place::SumLeft; },
                               [&](const Binary& binary) {
                                 bool product = binary.op == BinaryOp::Multiply;
                                 switch (place) {
                                   case Place::Top:
                                   case Place::SumLeft: return false;
                                   case Place::SumRight:
                                   case Place::Negated:
                                   case Place::Factor: return !product;
                                   case Place::FactorRight: return true;
                                 }
                                 throw InternalError("needs_parentheses: unknown place");
                               },
                               [](const auto&) { return false; }},
                    expr.node());
}

std::string print(const Expr& expr, Place place);

std::string print_binary(const Binary& binary) {
  if (binary.op == BinaryOp::Multiply) {
    return fmt::format("{} * {}", print(binary.left, Place::Factor), print(binary.right, Place::FactorRight));
  }
  return fmt::format("{} {} {}", print(binary.left, Place::SumLeft), binary.op == BinaryOp::Add ? "+" : "-",
                     print(binary.right, Place::SumRight));
}

std::string print(const Expr& expr, Place place) {
  std::string text =
      std::visit(Overloaded{[](const Access& access) { return to_string(access); },
                            [](const Literal& literal) { return literal_text(literal); },
                            [](const Negate& negate) { return "-" + print(negate.operand, Place::Negated); },
                            [](const Binary& binary) { return print_binary(binary); }},
                 expr.node());
  return needs_parentheses(expr, place) ? "(" + text + ")" : text;
}

}  // namespace

Expr::Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
Expr::Expr(Access access) : Expr(std::make_shared<const Node>(std::move(access))) {}
Expr::Expr(Literal literal) : Expr(std::make_shared<const Node>(std::move(literal))) {}
Expr Expr::negate(Expr operand) { return Expr(std::make_shared<const Node>(Negate{std::move(operand)})); }
Expr Expr::binary(BinaryOp op, Expr left, Expr right) {
  return Expr(std::make_shared<const Node>(Binary{op, std::move(left), std::move(right)}));
}

bool operator==(const Expr& a, const Expr& b) { return a.node_ == b.node_ || *a.node_ == *b.node_; }

std::vector<Access> accesses(const Expr& expr) {
  std::vector<Access> out;
  collect_accesses(expr, out);
  return out;
}

std::vector<IndexVar> variables(const Expr& expr) {
  std::vector<IndexVar> out;
  for (const Access& access : accesses(expr)) add_new(access.indices, out);
  return out;
}

std::vector<IndexVar> variables(const Statement& statement) {
  std::vector<IndexVar> out;
  add_new(statement.lhs.indices, out);
  add_new(variables(statement.rhs), out);
  return out;
}

std::vector<IndexVar> reduction_variables(const Statement& statement) {
  const std::vector<IndexVar>& free = statement.lhs.indices;
  std::vector<IndexVar> out;
  for (const IndexVar& v : variables(statement.rhs)) {
    if (std::find(free.begin(), free.end(), v) == free.end()) out.push_back(v);
  }
  return out;
}

bool is_copy(const Statement& statement) {
  if (statement.op != AssignOp::Assign || !std::holds_alternative<Access>(statement.rhs.node())) return false;
  return reduction_variables(statement).empty() && variables(statement).size() == statement.lhs.indices.size();
}

std::vector<Term> additive_terms(const Expr& expr) {
  std::vector<Term> out;
  collect_terms(expr, false, out);
  return out;
}

std::string to_string(const Access& access) {
  if (access.indices.empty()) return access.tensor;
  std::string out = access.tensor + "(";
  for (size_t i = 0; i < access.indices.size(); ++i) out += (i > 0 ? ", " : "") + access.indices[i].name;
  return out + ")";
}

std::string to_string(const Expr& expr) { return print(expr, Place::Top); }

std::string to_string(AssignOp op) { return op == AssignOp::Assign ? "=" : "+="; }

std::string to_string(const Statement& statement) {
  return fmt::format("{} {} {}", to_string(statement.lhs), to_string(statement.op), to_string(statement.rhs));
}

}  // namespace distal::core
