#include "leaf/blas_shape.h"

namespace distal::core {

std::optional<BlasShape> blas_shape(const Box& box) {
  BlasShape out;
  for (size_t a = 0; a < box.axes.size(); ++a) {
    bool o = box.has(a, 0), l = box.has(a, 1), r = box.has(a, 2);
    if (o + l + r < 2) return std::nullopt;
    const Axis& axis = box.axes[a];
    (o && l && r ? out.batch
     : o && l    ? out.rows
     : o         ? out.columns
                 : out.sums)
        .push_back({axis.extent, axis.strides[0], axis.strides[1], axis.strides[2]});
  }
  return out;
}

}  // namespace distal::core
