#pragma once

#include <optional>
#include <type_traits>

#include "lang/element_type.h"
#include "program/program.h"

namespace distal::core {

// A term that is a number times some accesses, one after the other.
struct Product {
  double scale = 1;  // with the term's sign
  int factors = 0;
};

// Nothing for any other term, and where the number would not be exact in the type.
std::optional<Product> product_of(const LeafTerm& term, ElementType type);

template <class T>
T scale_as(const Product& product) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int64_t>(product.scale));  // what is too large for T wraps round
  } else {
    return static_cast<T>(product.scale);
  }
}

}  // namespace distal::core
