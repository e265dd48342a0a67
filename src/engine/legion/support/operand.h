// Tensors in the memory of a task: where each element lies.
#pragma once

#include <string>
#include <vector>

#include "grid.h"
#include "legion.h"

namespace distal_legion {

using namespace Legion;

constexpr FieldID kValue = 1;

struct Tensor {
  const char* name = "";
  Coordinates shape;       // as the program says; a scalar has none
  std::vector<int> order;  // storage order, outermost first
  Home home;
  LogicalRegion region{};

  // Legion has no regions without dimensions: a scalar is a region with one dimension and one element.
  bool is_scalar() const { return shape.empty(); }
  Coordinates region_shape() const { return is_scalar() ? Coordinates{1} : shape; }
};

// A tensor in memory: element x is data[sum of x[d] * strides[d]].
struct Operand {
  void* data = nullptr;
  Int strides[LEGION_MAX_DIM] = {};
};

// The operand whose element at x is that of `operand` at x + offset.
template <class T>
Operand moved_by(Operand operand, const Coordinates& offset) {
  T* data = static_cast<T*>(operand.data);
  for (size_t d = 0; data && d < offset.size(); ++d) data += offset[d] * operand.strides[d];
  operand.data = data;
  return operand;
}

inline Domain domain_of(const Rectangle& r) {
  DomainPoint lo, hi;
  lo.dim = hi.dim = static_cast<int>(r.lo.size());
  for (size_t d = 0; d < r.lo.size(); ++d) {
    lo[static_cast<int>(d)] = r.lo[d];
    hi[static_cast<int>(d)] = r.hi[d] - 1;
  }
  return Domain(lo, hi);
}

inline Rectangle rectangle_of(const Domain& domain) {
  Rectangle out;
  for (int d = 0; d < domain.get_dim(); ++d) {
    out.lo.push_back(domain.lo()[d]);
    out.hi.push_back(domain.hi()[d] + 1);
  }
  return out;
}

template <class T, int N>
Operand operand_of(const PhysicalRegion& region, const Rect<N>& bounds) {
  Operand out;
  UnsafeFieldAccessor<T, N, coord_t, Realm::AffineAccessor<T, N, coord_t>> accessor(region, kValue);
  size_t strides[N];
  T* first = accessor.ptr(bounds, strides);
  for (int d = 0; d < N; ++d) {
    out.strides[d] = static_cast<Int>(strides[d]);
    first -= bounds.lo[d] * out.strides[d];
  }
  out.data = first;
  return out;
}

// The operand in a task's region. An empty region has no data.
template <class T>
Operand operand_of(const PhysicalRegion& region, Runtime* runtime, Rectangle* rectangle = nullptr) {
  Domain domain = runtime->get_index_space_domain(region.get_logical_region().get_index_space());
  if (rectangle) *rectangle = rectangle_of(domain);
  if (domain.empty()) return {};
  switch (domain.get_dim()) {
    case 1: return operand_of<T, 1>(region, Rect<1>(domain));
    case 2: return operand_of<T, 2>(region, Rect<2>(domain));
    case 3: return operand_of<T, 3>(region, Rect<3>(domain));
    case 4: return operand_of<T, 4>(region, Rect<4>(domain));
    case 5: return operand_of<T, 5>(region, Rect<5>(domain));
    default: return operand_of<T, 6>(region, Rect<6>(domain));
  }
}

// Access to an operand's elements as in index notation: B(i, k).
template <class T>
class Elements {
 public:
  explicit Elements(const Operand& operand) : data_(static_cast<const T*>(operand.data)), strides_(operand.strides) {}
  template <class... Index>
  T operator()(Index... at) const {
    Int offset = 0, d = 0;
    ((offset += at * strides_[d++]), ...);
    return data_[offset];
  }

 private:
  const T* data_;
  const Int* strides_;
};

template <class T>
T& element(const Operand& operand, const Coordinates& at) {
  T* out = static_cast<T*>(operand.data);
  for (size_t d = 0; d < at.size(); ++d) out += at[d] * operand.strides[d];
  return *out;
}

}  // namespace distal_legion
