#include "leaf/cpp_text.h"

#include <fmt/format.h>

namespace distal::core {

namespace {

std::string text_of(const Expr& expr, int& operand, ElementType type,
                    const std::function<std::string(int operand)>& element) {
  if (std::holds_alternative<Access>(expr.node())) return fmt::format("C({})", element(operand++));
  if (const auto* l = std::get_if<Literal>(&expr.node())) return fmt::format("C({})", literal_text(l->value, type));
  if (const auto* n = std::get_if<Negate>(&expr.node())) {
    return fmt::format("(C(0) - {})", text_of(n->operand, operand, type, element));
  }
  const auto& b = std::get<Binary>(expr.node());
  const char* op = b.op == BinaryOp::Add ? "+" : b.op == BinaryOp::Subtract ? "-" : "*";
  std::string left = text_of(b.left, operand, type, element);
  return fmt::format("({} {} {})", left, op, text_of(b.right, operand, type, element));
}

}  // namespace

std::string cpp_type(ElementType type) {
  switch (type) {
    case ElementType::Float: return "float";
    case ElementType::Double: return "double";
    case ElementType::Int32: return "std::int32_t";
    case ElementType::Int64: return "std::int64_t";
    case ElementType::ComplexFloat: return "std::complex<float>";
    case ElementType::ComplexDouble: return "std::complex<double>";
  }
  throw InternalError("unknown element type");
}

std::string computing_type(ElementType type) {
  if (type == ElementType::Int32) return "std::uint32_t";
  if (type == ElementType::Int64) return "std::uint64_t";
  return cpp_type(type);
}

std::string literal_text(double value, ElementType type) {
  if (is_integer(type)) return fmt::format("{}LL", static_cast<int64_t>(value));
  return fmt::format("{:a}", value);  // hexadecimal, which is exact
}

std::string expression_text(const LeafTerm& term, ElementType type,
                            const std::function<std::string(int operand)>& element) {
  int operand = term.first_operand;
  return text_of(term.expr, operand, type, element);
}

}  // namespace distal::core
