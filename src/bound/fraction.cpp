#include "bound/fraction.h"

#include <limits>

#include "support/error.h"

namespace distal::core {

Fraction fraction_at_least(Wide numerator, Wide denominator) {
  constexpr Wide largest = std::numeric_limits<int64_t>::max();
  if (denominator == 0) throw InternalError("a fraction with the denominator 0");
  Wide a = numerator, b = denominator;
  while (b != 0) {
    Wide rest = a % b;
    a = b;
    b = rest;
  }
  numerator /= a;
  denominator /= a;
  if (numerator > largest || denominator > largest) {
    numerator = (numerator + denominator - 1) / denominator;
    denominator = 1;
  }
  if (numerator > largest) throw InternalError("a fraction does not fit in 64 bits");
  return {static_cast<int64_t>(numerator), static_cast<int64_t>(denominator)};
}

std::string to_string(const Fraction& fraction) {
  std::string out = std::to_string(fraction.numerator);
  return fraction.denominator == 1 ? out : out + "/" + std::to_string(fraction.denominator);
}

}  // namespace distal::core
