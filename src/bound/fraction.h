#pragma once

#include <cstdint>
#include <string>

namespace distal::core {

// A positive fraction in lowest terms, or zero.
struct Fraction {
  int64_t numerator = 0;
  int64_t denominator = 1;

  long double value() const { return static_cast<long double>(numerator) / static_cast<long double>(denominator); }
  bool operator==(const Fraction&) const = default;
};

__extension__ using Wide = __int128;

// The quotient in lowest terms; if that does not fit in 64 bits, the next larger integer. It must be below 2^62.
Fraction fraction_at_least(Wide numerator, Wide denominator);

std::string to_string(const Fraction& fraction);  // "4096", "1/2"

}  // namespace distal::core
