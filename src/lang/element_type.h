#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "support/error.h"

namespace distal::core {

enum class ElementType { Float, Double, Int32, Int64, ComplexFloat, ComplexDouble };

// The name in the text language: float, double, int32, int64, complex<float>, complex<double>.
std::string to_string(ElementType type);
// Also takes complex64 and complex128, as NumPy calls them.
std::optional<ElementType> parse_element_type(const std::string& name);
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
