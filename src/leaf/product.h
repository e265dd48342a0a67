#pragma once

#include <optional>
#include <type_traits>

#include "lang/element_type.h"
#include "program/program.h"

namespace distal::core {

// A term that is a number times a product of accesses.
struct Product {
  double scale = 1;  // with the term's sign
  int factors = 0;   // the number of accesses
};

// Nothing for any other term, and for an integer type whose scale is too large to be exact.
std::optional<Product> product_of(const LeafTerm& term, ElementType type);

template <class T>
T scale_as(const Product& product) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int64_t>(product.scale));  // wraps around if it is too large for T
  } else {
    return static_cast<T>(product.scale);
  }
}

}  // namespace distal::core
