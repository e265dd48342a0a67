#include "lang/index_notation.h"

#include <fmt/format.h>

#include <algorithm>

namespace distal::core {

namespace {

void add_new(const std::vector<IndexVar>& candidates, std::vector<IndexVar>& out) {
  for (const IndexVar& v : candidates) {
    if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
  }
}

std::string joined(const std::vector<IndexVar>& variables) {
  std::string out;
  for (const IndexVar& v : variables) out += (out.empty() ? "" : ", ") + v.name;
  return out;
}

// "a + no", "a - 1", or the plain index.
std::string index_text(const Access& access, size_t dimension) {
  const std::string& name = access.indices[dimension].name;
  if (!access.is_shifted(dimension)) return name;
  const IntExpr by = access.offset(dimension);
  if (by.kind() == IntExpr::Kind::Sub && by.a().is_constant(0)) {  // as a minus sign is parsed
    const char* format = by.b().operators() > 0 ? "{} - ({})" : "{} - {}";
    return fmt::format(fmt::runtime(format), name, by.b().to_string());
  }
  std::string text = by.to_string();
  return text[0] == '-' ? fmt::format("{} - {}", name, text.substr(1)) : fmt::format("{} + {}", name, text);
}

std::string literal_text(const Literal& literal) {
  if (!literal.text.empty()) return literal.text;
  std::string text = fmt::format("{}", literal.value);
  bool looks_integral = text.find_first_of(".en") == std::string::npos;
  return looks_integral && !literal.integral ? text + ".0" : text;
}

enum class Form { Atom, Negation, Sum, Product };

struct Printed {
  std::string text;
  Form form;
};

// An operand gets the parentheses that it needs to be read back as the same tree.
std::string in_parentheses_if(bool needed, const Printed& operand) {
  return needed ? "(" + operand.text + ")" : operand.text;
}

Printed negation_text(const Printed& operand) {
  return {"-" + in_parentheses_if(operand.form == Form::Negation || operand.form == Form::Sum, operand),
          Form::Negation};
}

Printed binary_text(BinaryOp op, const Printed& left, const Printed& right) {
  auto binds_weakly = [](const Printed& x) { return x.form == Form::Negation || x.form == Form::Sum; };
  if (op == BinaryOp::Multiply) {
    return {fmt::format("{} * {}", in_parentheses_if(binds_weakly(left), left),
                        in_parentheses_if(right.form != Form::Atom, right)),
            Form::Product};
  }
  return {fmt::format("{} {} {}", left.text, op == BinaryOp::Add ? "+" : "-",
                      in_parentheses_if(binds_weakly(right), right)),
          Form::Sum};
}

}  // namespace

// Copies share, so the number can double with every operator. It stops at one that is too large for any use.
Expr::Expr(std::shared_ptr<const Node> node, int64_t operators)
    : node_(std::move(node)), operators_(std::min(operators, int64_t{1} << 40)) {}
Expr::Expr(Access access) : Expr(std::make_shared<const Node>(std::move(access)), 0) {}
Expr::Expr(Literal literal) : Expr(std::make_shared<const Node>(std::move(literal)), 0) {}
Expr::Expr(ParamUse param) : Expr(std::make_shared<const Node>(std::move(param)), 0) {}
Expr Expr::negate(Expr operand) {
  int64_t operators = operand.operators() + 1;
  return {std::make_shared<const Node>(Negate{std::move(operand)}), operators};
}
Expr Expr::binary(BinaryOp op, Expr left, Expr right) {
  int64_t operators = left.operators() + right.operators() + 1;
  return {std::make_shared<const Node>(Binary{op, std::move(left), std::move(right)}), operators};
}

bool operator==(const Expr& a, const Expr& b) { return a.node_ == b.node_ || *a.node_ == *b.node_; }

std::vector<Access> accesses(const Expr& expr) {
  std::vector<Access> out;
  fold(expr, Overloaded{[&](const Access& access) { out.push_back(access); }, [](const Literal&) {},
                        [](const ParamUse&) {}, [](const Negate&) {}, [](const Binary&) {}});
  return out;
}

std::vector<Access> accesses(const Statement& statement) {
  std::vector<Access> out = accesses(statement.rhs);
  out.insert(out.begin(), statement.lhs);
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
  using Terms = std::vector<Term>;
  auto negated = [](Terms terms) {
    for (Term& term : terms) term.negated = !term.negated;
    return terms;
  };
  return fold(expr, Overloaded{[](const Access& access) {
                                 return Terms{{false, access}};
                               },
                               [](const Literal& literal) {
                                 return Terms{{false, literal}};
                               },
                               [](const ParamUse& param) {
                                 return Terms{{false, param}};
                               },
                               [&](const Negate&, Terms operand) { return negated(std::move(operand)); },
                               [&](const Binary& b, Terms left, Terms right) {
                                 if (b.op == BinaryOp::Multiply) {
                                   return Terms{{false, Expr::binary(b.op, b.left, b.right)}};
                                 }
                                 if (b.op == BinaryOp::Subtract) right = negated(std::move(right));
                                 left.insert(left.end(), right.begin(), right.end());
                                 return left;
                               }});
}

std::vector<Term> additive_terms(const Statement& statement) {
  std::vector<Term> terms = additive_terms(statement.rhs);
  for (Term& term : terms) term.negated = term.negated != (statement.op == AssignOp::Subtract);
  return terms;
}

bool reads_output(const Statement& statement) {
  std::vector<Access> right = accesses(statement.rhs);
  return std::any_of(right.begin(), right.end(), [&](const Access& a) { return a.tensor == statement.lhs.tensor; });
}

std::string to_string(const Access& access) {
  if (access.indices.empty()) return access.tensor;
  std::string out = access.tensor;
  for (size_t d = 0; d < access.indices.size(); ++d) out += (d == 0 ? "(" : ", ") + index_text(access, d);
  return out + ")";
}

std::string to_string(const std::vector<IndexVar>& variables) { return "{" + joined(variables) + "}"; }

std::string to_string(const Expr& expr) {
  return fold(expr, Overloaded{[](const Access& access) {
                                 return Printed{to_string(access), Form::Atom};
                               },
                               [](const Literal& literal) {
                                 return Printed{literal_text(literal), Form::Atom};
                               },
                               [](const ParamUse& param) {
                                 return Printed{param.name, Form::Atom};
                               },
                               [](const Negate&, const Printed& operand) { return negation_text(operand); },
                               [](const Binary& b, const Printed& left, const Printed& right) {
                                 return binary_text(b.op, left, right);
                               }})
      .text;
}

std::string to_string(AssignOp op) {
  switch (op) {
    case AssignOp::Assign: return "=";
    case AssignOp::Accumulate: return "+=";
    case AssignOp::Subtract: return "-=";
  }
  throw InternalError("to_string: no such assignment");
}

std::string to_string(const Statement& statement) {
  return fmt::format("{} {} {}", to_string(statement.lhs), to_string(statement.op), to_string(statement.rhs));
}

}  // namespace distal::core
