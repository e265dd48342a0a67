#include "leaf/cpp_text.h"

#include <fmt/format.h>

namespace distal::core {

std::string cpp_type(ElementType type) { return std::string(traits_of(type).cpp_type); }

std::string computing_type(ElementType type) { return std::string(traits_of(type).computing_type); }

std::string plain_cpp_type(const std::string& type) {
  if (type == "std::int32_t") return "int";
  if (type == "std::int64_t") return "long";
  if (type == "std::uint32_t") return "unsigned";
  if (type == "std::uint64_t") return "unsigned long";
  return type;
}

std::string literal_text(double value, ElementType type) {
  if (is_integer(type)) return fmt::format("{}LL", static_cast<int64_t>(value));
  return fmt::format("{:a}", value);  // hexadecimal, which is exact
}

std::string assignment_text(const Assignment& a) {
  return fmt::format("{} {} {}", to_string(a.lhs), to_string(a.op), to_string(a.rhs));
}

std::string expression_text(const LeafTerm& term, ElementType type,
                            const std::function<std::string(int operand)>& element,
                            const std::function<std::string(const std::string& name)>& param) {
  int operand = term.first_operand;
  return fold(term.expr,
              Overloaded{[&](const Access&) { return fmt::format("C({})", element(operand++)); },
                         [&](const Literal& l) { return fmt::format("C({})", literal_text(l.value, type)); },
                         [&](const ParamUse& p) {
                           if (!param) throw InternalError("the param " + p.name + " has no value here");
                           return fmt::format("C({})", param(p.name));
                         },
                         [](const Negate&, const std::string& x) { return fmt::format("(C(0) - {})", x); },
                         [](const Binary& b, const std::string& left, const std::string& right) {
                           const char* op = b.op == BinaryOp::Add ? "+" : b.op == BinaryOp::Subtract ? "-" : "*";
                           return fmt::format("({} {} {})", left, op, right);
                         }});
}

}  // namespace distal::core
