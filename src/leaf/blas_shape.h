#pragma once

#include <absl/container/inlined_vector.h>

#include <optional>

#include "lang/index_role.h"
#include "leaf/box_kernel.h"
#include "leaf/product.h"

namespace distal::core {

// An axis of a product of two: its extent, and its stride in each tensor, in elements.
struct BlasAxis {
  int64_t extent = 1;
  int64_t output = 0, left = 0, right = 0;
};

using BlasAxes = absl::InlinedVector<BlasAxis, 4>;

using BlasShape = IndicesByRole<BlasAxes>;

// Sorts the axes of a box by role. Nothing if an axis occurs in one tensor only.
std::optional<BlasShape> blas_shape(const BoxShape& box);

// Makes a Kernel<T> from the term's scale and the arguments. Null unless the term is a product of two and BLAS has its
// type.
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
