#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "distal/kinds.h"
#include "support/error.h"

namespace distal::core {

// The public name is the one that C++ programs use.
using ElementType = ElementKind;

// What is said of an element type, but for what its C++ type knows itself.
struct ElementTraits {
  ElementType type;
  std::string_view name;            // in the text language
  std::string_view numpy_name;      // NumPy's, which the text language knows too
  std::string_view numpy_code;      // in .npy files, without the byte order
  std::string_view cpp_type;        // in generated C++
  std::string_view computing_type;  // the C++ type to compute in: unsigned for integers, whose overflow wraps around
  std::string_view cuda_type;       // in generated CUDA
  double largest_literal;
};
std::span<const ElementTraits> element_types();  // one row per type
const ElementTraits& traits_of(ElementType type);

std::string to_string(ElementType type);
std::optional<ElementType> parse_element_type(std::string_view name);
std::string element_type_names();  // "float, double, ... and complex<double>"
int64_t size_of(ElementType type);
bool is_integer(ElementType type);
bool is_complex(ElementType type);

// Calls f with a value-initialised element of the C++ type: the one place where a run-time type becomes static.
template <class F>
decltype(auto) with_element_type(ElementType type, F&& f) {
  switch (type) {
    case ElementType::Float: return f(float{});
    case ElementType::Double: return f(double{});
    case ElementType::Int32: return f(int32_t{});
    case ElementType::Int64: return f(int64_t{});
    case ElementType::ComplexFloat: return f(std::complex<float>{});
    case ElementType::ComplexDouble: return f(std::complex<double>{});
  }
  throw InternalError("unknown element type");
}

// Integer tensors compute modulo 2^32 or 2^64; signed overflow would be undefined in C++.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

template <class T>
T wrapping_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}

template <class T>
T wrapping_negate(T a) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(U{0} - static_cast<U>(a));
  } else {
    return -a;
  }
}

}  // namespace distal::core
