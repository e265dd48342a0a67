#include "lang/element_type.h"

namespace distal::core {

std::string to_string(ElementType type) {
  switch (type) {
    case ElementType::Float: return "float";
    case ElementType::Double: return "double";
    case ElementType::Int32: return "int32";
    case ElementType::Int64: return "int64";
    case ElementType::ComplexFloat: return "complex<float>";
    case ElementType::ComplexDouble: return "complex<double>";
  }
  throw InternalError("unknown element type");
}

std::optional<ElementType> parse_element_type(const std::string& name) {
  if (name == "float") return ElementType::Float;
  if (name == "double") return ElementType::Double;
  if (name == "int32") return ElementType::Int32;
  if (name == "int64") return ElementType::Int64;
  if (name == "complex<float>" || name == "complex64") return ElementType::ComplexFloat;
  if (name == "complex<double>" || name == "complex128") return ElementType::ComplexDouble;
  return std::nullopt;
}

int64_t size_of(ElementType type) {
  return with_element_type(type, [](auto zero) { return static_cast<int64_t>(sizeof(zero)); });
}

bool is_integer(ElementType type) { return type == ElementType::Int32 || type == ElementType::Int64; }

bool is_complex(ElementType type) { return type == ElementType::ComplexFloat || type == ElementType::ComplexDouble; }

}  // namespace distal::core
