#pragma once

#include <absl/container/inlined_vector.h>

#include <optional>

#include "leaf/box_kernel.h"
#include "leaf/product.h"

namespace distal::core {

// An axis of a product of two as BLAS sees it.
struct Side {
  int64_t extent = 1;
  int64_t output = 0, left = 0, right = 0;
};

using Sides = absl::InlinedVector<Side, 4>;

struct BlasShape {
  Sides rows, columns, sums, batch;
};

// Deals the axes out; nothing if one stands in a single operand.
std::optional<BlasShape> blas_shape(const Box& box);

// A Kernel<T> made from the scale of the term and the arguments; null where BLAS has nothing for the term or the type.
template <template <class> class Kernel, class... Arguments>
std::unique_ptr<BoxKernel> make_for_blas(const LeafTerm& term, ElementType type, Arguments... arguments) {
  std::optional<Product> product = product_of(term, type);
  if (!product || product->factors != 2) return nullptr;
  return with_element_type(type, [&](auto zero) -> std::unique_ptr<BoxKernel> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      return nullptr;
    } else {
      return std::make_unique<Kernel<T>>(scale_as<T>(*product), arguments...);
    }
  });
}

}  // namespace distal::core
