#include "leaf/blas_shape.h"

namespace distal::core {

std::optional<BlasShape> blas_shape(const BoxShape& box) {
  BlasAxes axes;
  for (const Axis& a : box.axes) axes.push_back({a.extent, a.strides[0], a.strides[1], a.strides[2]});
  return sort_by_role<BlasAxes>(axes, [](const BlasAxis& a, int tensor) {
    return (tensor == 0 ? a.output : tensor == 1 ? a.left : a.right) != 0;
  });
}

}  // namespace distal::core
