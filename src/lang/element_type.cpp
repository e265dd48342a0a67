#include "lang/element_type.h"

#include <array>
#include <limits>

namespace distal::core {

namespace {

template <class T>
constexpr double kLargest = static_cast<double>(std::numeric_limits<T>::max());
// Literals are kept as doubles, which cannot represent every integer from 2^53 on.
template <>
constexpr double kLargest<int64_t> = static_cast<double>((int64_t{1} << 53) - 1);

// In the order of the enumeration.
constexpr std::array kRows{
    ElementTraits{ElementType::Float, "float", "float32", "f4",  //
                  "float", "float", "float", kLargest<float>},
    ElementTraits{ElementType::Double, "double", "float64", "f8",  //
                  "double", "double", "double", kLargest<double>},
    ElementTraits{ElementType::Int32, "int32", "int32", "i4",  //
                  "std::int32_t", "std::uint32_t", "std::int32_t", kLargest<int32_t>},
    ElementTraits{ElementType::Int64, "int64", "int64", "i8",  //
                  "std::int64_t", "std::uint64_t", "std::int64_t", kLargest<int64_t>},
    ElementTraits{ElementType::ComplexFloat, "complex<float>", "complex64", "c8",  //
                  "std::complex<float>", "std::complex<float>", "Complex<float>", kLargest<float>},
    ElementTraits{ElementType::ComplexDouble, "complex<double>", "complex128", "c16",  //
                  "std::complex<double>", "std::complex<double>", "Complex<double>", kLargest<double>},
};

}  // namespace

std::span<const ElementTraits> element_types() { return kRows; }

const ElementTraits& traits_of(ElementType type) { return kRows[static_cast<size_t>(type)]; }

std::string to_string(ElementType type) { return std::string(traits_of(type).name); }

std::optional<ElementType> parse_element_type(std::string_view name) {
  for (const ElementTraits& t : kRows) {
    if (name == t.name || name == t.numpy_name) return t.type;
  }
  return std::nullopt;
}

std::string element_type_names() {
  std::string out;
  for (const ElementTraits& t : kRows) {
    if (t.type != kRows.front().type) out += t.type == kRows.back().type ? " and " : ", ";
    out += t.name;
  }
  return out;
}

int64_t size_of(ElementType type) {
  return with_element_type(type, [](auto zero) { return static_cast<int64_t>(sizeof(zero)); });
}

bool is_integer(ElementType type) {
  return with_element_type(type, [](auto zero) { return std::is_integral_v<decltype(zero)>; });
}

bool is_complex(ElementType type) {
  return with_element_type(type, [](auto zero) { return !std::is_arithmetic_v<decltype(zero)>; });
}

}  // namespace distal::core
