#pragma once

#include <vector>

#include "bound/fraction.h"

namespace distal::core {

struct Power {
  Fraction base;
  int exponent = 0;
};

// Whether the product of the powers is at most `limit` to the power `root`, in exact arithmetic. All bases and the
// limit are positive.
bool product_is_at_most(const std::vector<Power>& powers, const Fraction& limit, int root);

// The natural logarithm of the product, rounded.
long double log_of_product(const std::vector<Power>& powers);

}  // namespace distal::core
