#include "bound/powers.h"

#include <cmath>

namespace distal::core {

namespace {

__extension__ using WideProduct = unsigned __int128;

// A natural number of any size: digits to the base 2^64, lowest first, without leading zeros.
class Natural {
 public:
  void multiply(int64_t factor, int times) {
    for (int i = 0; i < times && factor != 1; ++i) multiply(static_cast<uint64_t>(factor));
  }

  friend bool operator<=(const Natural& a, const Natural& b) {
    if (a.digits_.size() != b.digits_.size()) return a.digits_.size() < b.digits_.size();
    for (size_t d = a.digits_.size(); d-- > 0;) {
      if (a.digits_[d] != b.digits_[d]) return a.digits_[d] < b.digits_[d];
    }
    return true;
  }

 private:
  void multiply(uint64_t factor) {
    uint64_t carry = 0;
    for (uint64_t& digit : digits_) {
      WideProduct product = static_cast<WideProduct>(digit) * factor + carry;
      digit = static_cast<uint64_t>(product);
      carry = static_cast<uint64_t>(product >> 64);
    }
    if (carry != 0) digits_.push_back(carry);
  }

  std::vector<uint64_t> digits_{1};
};

}  // namespace

long double log_of_product(const std::vector<Power>& powers) {
  long double sum = 0;
  for (const Power& p : powers) sum += static_cast<long double>(p.exponent) * std::log(p.base.value());
  return sum;
}

bool product_is_at_most(const std::vector<Power>& powers, const Fraction& limit, int root) {
  // Far apart, logarithms decide: each has a relative error below 1e-17, and none is above 64.
  long double left = log_of_product(powers), right = log_of_product({{limit, root}});
  long double terms = static_cast<long double>(root);
  for (const Power& p : powers) terms += static_cast<long double>(p.exponent);
  long double error = 1e-15L * (terms + 1);
  if (std::abs(left - right) > error) return left < right;
  Natural product, bound;
  for (const Power& p : powers) {
    product.multiply(p.base.numerator, p.exponent);
    bound.multiply(p.base.denominator, p.exponent);
  }
  product.multiply(limit.denominator, root);
  bound.multiply(limit.numerator, root);
  return product <= bound;
}

}  // namespace distal::core
