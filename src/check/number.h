#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace distal::core {

// The arithmetic of the reference for elements of type T. Each number also has a magnitude: the value of the same
// expression with absolute values, and with + in place of -. Rounding errors are relative to the magnitude, because the
// terms of a sum may cancel.

// Integers wrap around, so they are computed unsigned.
template <class T>
struct Number {
  uint64_t value = 0;

  static Number from(T v) { return {static_cast<uint64_t>(v)}; }
  T rounded() const { return static_cast<T>(value); }

  friend Number operator+(Number a, Number b) { return {a.value + b.value}; }
  friend Number operator*(Number a, Number b) { return {a.value * b.value}; }
  friend Number operator-(Number a) { return {uint64_t{0} - a.value}; }
};

template <class T>
requires std::is_floating_point_v<T>
struct Number<T> {
  long double value = 0;
  long double magnitude = 0;

  static Number from(T v) { return {v, std::abs(static_cast<long double>(v))}; }
  T rounded() const { return static_cast<T>(value); }

  friend Number operator+(Number a, Number b) { return {a.value + b.value, a.magnitude + b.magnitude}; }
  friend Number operator*(Number a, Number b) { return {a.value * b.value, a.magnitude * b.magnitude}; }
  friend Number operator-(Number a) { return {-a.value, a.magnitude}; }
};

// Multiplies by hand, because the operator of std::complex spends time on infinities, which the comparison does not
// need.
template <class Real>
struct Number<std::complex<Real>> {
  long double re = 0;
  long double im = 0;
  long double magnitude = 0;

  static Number from(std::complex<Real> v) {
    long double re = v.real();
    long double im = v.imag();
    return {re, im, std::sqrt(re * re + im * im)};  // cannot overflow in long double
  }
  std::complex<Real> rounded() const { return {static_cast<Real>(re), static_cast<Real>(im)}; }

  friend Number operator+(Number a, Number b) { return {a.re + b.re, a.im + b.im, a.magnitude + b.magnitude}; }
  friend Number operator*(Number a, Number b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, a.magnitude * b.magnitude};
  }
  friend Number operator-(Number a) { return {-a.re, -a.im, a.magnitude}; }
};

// The value that errors are divided by: the magnitude, or 1 if the magnitude is 0. It is at least min / epsilon of the
// type, because below that the rounding errors underflow.
template <class Real>
long double error_scale(long double magnitude) {
  using Limits = std::numeric_limits<Real>;
  if (magnitude == 0) return 1;
  return std::max(magnitude, static_cast<long double>(Limits::min()) / Limits::epsilon());
}

// The error of an element, relative to its magnitude; infinity if a NaN or an infinity in one value has no match in the
// other. For integers it is relative to the wanted value, and any error but 0 is wrong.
template <class T>
double relative_error(T got, const Number<T>& want) {
  if constexpr (std::is_integral_v<T>) {
    T wanted = want.rounded();
    auto distance = static_cast<long double>(got) - static_cast<long double>(wanted);
    return static_cast<double>(std::abs(distance) / std::max(1.0L, std::abs(static_cast<long double>(wanted))));
  } else if constexpr (std::is_floating_point_v<T>) {
    T wanted = want.rounded();
    if (std::isnan(wanted)) return std::isnan(got) ? 0 : std::numeric_limits<double>::infinity();
    if (got == wanted) return 0;
    if (!std::isfinite(got) || !std::isfinite(wanted)) return std::numeric_limits<double>::infinity();
    long double scale = error_scale<T>(want.magnitude);
    return static_cast<double>(std::abs(static_cast<long double>(got) - want.value) / scale);
  } else {
    T wanted = want.rounded();
    bool got_finite = std::isfinite(got.real()) && std::isfinite(got.imag());
    bool wanted_finite = std::isfinite(wanted.real()) && std::isfinite(wanted.imag());
    if (got_finite != wanted_finite) return std::numeric_limits<double>::infinity();
    if (!got_finite) return 0;  // which part overflows depends on how products are computed
    long double scale = error_scale<typename T::value_type>(want.magnitude);
    return static_cast<double>(std::hypot(got.real() - want.re, got.imag() - want.im) / scale);
  }
}

// The largest error that is allowed for a sum of this many contributions.
template <class T>
double tolerance(int64_t contributions) {
  constexpr double kOperationsInside = 16;
  if constexpr (std::is_integral_v<T>) {
    return 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(std::numeric_limits<T>::epsilon()) *
           (kOperationsInside + static_cast<double>(contributions));
  } else {
    return tolerance<typename T::value_type>(contributions);
  }
}

}  // namespace distal::core
