// Products of two tensors whose indices must be regrouped before they are a product of matrices: what has no fitting
// strides is copied to or from scratch memory. Nothing here depends on Legion.
#pragma once

#include "product.h"

namespace distal_gpu {

// Moves elements between a tensor and memory without gaps: operand 0 = or += operand 1.
template <class Element, bool ADDS>
struct Copy {
  using T = Element;
  using C = Element;
  static constexpr int kOperands = 2, kOutputs = 6, kIndices = 6, kInner = 5, kReused = -1;
  static constexpr unsigned kAlongInner = 0b11, kAlongReused = 0;
  static constexpr bool kAdds = ADDS, kHasConditions = false;
  static constexpr int kParams = 0;

  static __device__ C value(const C (&x)[kOperands], const Int (&)[kIndices], const Int*) { return x[1]; }
};

// A product as one product of matrices, whose rows, columns and sums may be several indices each. A tensor that is no
// such matrix is packed. What is packed must fit into scratch memory; else the product is divided.
class PackedProduct {
 public:
  explicit PackedProduct(const ProductAxes& axes) {
    auto roles = roles_of(fused(axes));
    if (!roles || !roles->batch.empty()) return;
    sort(roles->rows, 1);
    sort(roles->columns, 2);
    sort(roles->sums, 1);
    Groups by_left = grouped(*roles);
    sort(roles->sums, 2);
    Groups by_right = grouped(*roles);
    groups_ = by_left.packed_elements() <= by_right.packed_elements() ? by_left : by_right;
    fits_ = groups_.all[0].size() + groups_.all[1].size() <= kMostAxes &&
            groups_.all[0].size() + groups_.all[2].size() <= kMostAxes &&
            groups_.all[1].size() + groups_.all[2].size() <= kMostAxes;
  }

  // Whether cuBLAS can do it with this much memory for elements.
  bool fits(Int elements) const { return fits_ && elements >= kLeastElements; }

  double cost(size_t element, Int elements) const {
    const Int packed = groups_.packed_elements(), parts = ceildiv(std::max(packed, Int{1}), elements);
    return ProductCost::of_matrices(groups_.extent(0), groups_.extent(1), groups_.extent(2), 1, element) +
           3 * static_cast<double>(packed * static_cast<Int>(element)) / ProductCost::kMemory +
           static_cast<double>(3 * parts) * ProductCost::kLaunch;
  }

  template <class T>
  cublasStatus_t run(const Device& device, T* const (&data)[3], double scale, bool adds = true) const {
    return run_part<T>(device, groups_, {data[0], data[1], data[2]}, scale, adds);
  }

 private:
  static constexpr size_t kMostAxes = 6;
  static constexpr Int kLeastElements = 3;  // with one element of each tensor, nothing remains to be divided

  // Rows, columns and sums; each is a group of axes, outermost first.
  struct Groups {
    ProductAxes all[3];
    bool packed[3] = {false, false, false};  // by tensor

    // The groups of a tensor: its rows, then its columns.
    static int first_of(int tensor) { return tensor == 2 ? 2 : 0; }
    static int second_of(int tensor) { return tensor == 1 ? 2 : 1; }

    Int extent(int group) const {
      Int out = 1;
      for (const ProductAxis& a : all[group]) out *= a.extent;
      return out;
    }
    Int elements(int tensor) const { return extent(first_of(tensor)) * extent(second_of(tensor)); }
    Int packed_elements() const {
      Int out = 0;
      for (int t = 0; t < 3; ++t) out += packed[t] ? elements(t) : 0;
      return out;
    }
    // The group as one axis, by the strides of one tensor. Not found: its axes do not continue one another.
    bool as_axis(int group, int tensor, ProductAxis& out) const {
      out = {};
      for (auto a = all[group].rbegin(); a != all[group].rend(); ++a) {
        if (a->extent == 1) continue;
        if (out.extent == 1) {
          out.strides[tensor] = a->strides[tensor];
        } else if (a->strides[tensor] != out.extent * out.strides[tensor]) {
          return false;
        }
        out.extent *= a->extent;
      }
      return true;
    }
    bool is_matrix(int tensor) const {
      ProductAxis rows, columns;
      return as_axis(first_of(tensor), tensor, rows) && as_axis(second_of(tensor), tensor, columns) &&
             Matrix(rows, columns, tensor).fits;
    }
  };

  static void sort(ProductAxes& axes, int tensor) {
    std::stable_sort(axes.begin(), axes.end(),
                     [&](const ProductAxis& a, const ProductAxis& b) { return a.strides[tensor] > b.strides[tensor]; });
  }

  static Groups grouped(const ProductRoles& roles) {
    Groups out;
    out.all[0] = roles.rows;
    out.all[1] = roles.columns;
    out.all[2] = roles.sums;
    for (int t = 0; t < 3; ++t) out.packed[t] = !out.is_matrix(t);
    return out;
  }

  template <class T>
  cublasStatus_t run_part(const Device& device, const Groups& groups, const std::vector<T*>& at, double scale,
                          bool adds) const {
    const auto room = static_cast<Int>(device.scratch_bytes / sizeof(T));
    if (groups.packed_elements() > room) return run_halves(device, groups, at, scale, adds);
    T* place = static_cast<T*>(device.scratch);
    T* data[3] = {at[0], at[1], at[2]};
    ProductAxes axes(3);
    for (int g = 0; g < 3; ++g) axes[static_cast<size_t>(g)].extent = groups.extent(g);
    for (int t = 0; t < 3; ++t) {
      const auto first = static_cast<size_t>(Groups::first_of(t)), second = static_cast<size_t>(Groups::second_of(t));
      if (!groups.packed[t]) {
        for (size_t g : {first, second}) {
          ProductAxis one;
          groups.as_axis(static_cast<int>(g), t, one);
          axes[g].strides[t] = one.strides[t];
        }
        continue;
      }
      axes[first].strides[t] = axes[second].extent;
      axes[second].strides[t] = 1;
      data[t] = place;
      place += groups.elements(t);
      if (t > 0) copy<T, false>(device, groups, t, data[t], at[static_cast<size_t>(t)]);
    }
    const cublasStatus_t status = MatrixProduct(axes).run<T>(device, data, scale, adds && !groups.packed[0]);
    if (status != CUBLAS_STATUS_SUCCESS || !groups.packed[0]) return status;
    if (adds) {
      copy<T, true>(device, groups, 0, data[0], at[0]);
    } else {
      copy<T, false>(device, groups, 0, data[0], at[0]);
    }
    return status;
  }

  // Divides the axis of most iterations of the largest packed tensor.
  template <class T>
  cublasStatus_t run_halves(const Device& device, Groups groups, std::vector<T*> at, double scale, bool adds) const {
    int largest = 0;
    for (int t = 0; t < 3; ++t) {
      if (groups.packed[t] && (!groups.packed[largest] || groups.elements(t) > groups.elements(largest))) largest = t;
    }
    const int first = Groups::first_of(largest), second = Groups::second_of(largest);
    const int group = groups.extent(first) >= groups.extent(second) ? first : second;
    // The outermost axis, so that what continued keeps continuing.
    ProductAxes& axes = groups.all[group];
    size_t outermost = 0;
    while (outermost + 1 < axes.size() && axes[outermost].extent == 1) ++outermost;
    ProductAxis& axis = axes[outermost];
    const Int all = axis.extent, half = all / 2;
    axis.extent = half;
    cublasStatus_t status = run_part(device, groups, at, scale, adds);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    for (int o = 0; o < 3; ++o) at[static_cast<size_t>(o)] += half * axis.strides[o];
    axis.extent = all - half;
    return run_part(device, groups, at, scale, adds || group == 2);
  }

  // Packs a tensor, or moves the packed output to its place.
  template <class T, bool ADDS>
  static void copy(const Device& device, const Groups& groups, int tensor, T* packed, T* at) {
    std::vector<std::pair<ProductAxis, Int>> axes;  // and the strides in packed memory, innermost first
    Int stride = 1;
    for (int g : {Groups::second_of(tensor), Groups::first_of(tensor)}) {
      for (auto a = groups.all[g].rbegin(); a != groups.all[g].rend(); ++a) {
        axes.emplace_back(*a, stride);
        stride *= a->extent;
      }
    }
    std::stable_sort(axes.begin(), axes.end(), [&](const auto& a, const auto& b) {
      return std::abs(a.first.strides[tensor]) < std::abs(b.first.strides[tensor]);
    });
    const int to = tensor == 0 ? 0 : 1;
    Box<Copy<T, ADDS>> box;
    box.data[to] = at;
    box.data[1 - to] = packed;
    for (size_t a = 0; a < axes.size(); ++a) {
      const size_t v = 5 - a;
      box.count[v] = axes[a].first.extent;
      box.stride[to][v] = axes[a].first.strides[tensor];
      box.stride[1 - to][v] = axes[a].second;
    }
    compute_box(box, device);
  }

  Groups groups_;
  bool fits_ = false;
};

// Adds `scale` times the product of operands 1 and 2 to operand 0, or, unless it `adds`, overwrites that. Returns
// false, and does nothing, if cuBLAS does not take tensors with these strides; else `status` is cuBLAS's.
template <class T>
bool multiply(const ProductAxes& axes, T* const (&data)[3], const Device& device, double scale, bool adds,
              int& status) {
  const MatrixProduct direct(axes);
  const PackedProduct packed(axes);
  const auto room = static_cast<Int>(device.scratch_bytes / sizeof(T));
  if (packed.fits(room) && (!direct.fits() || packed.cost(sizeof(T), room) < direct.cost(sizeof(T)))) {
    status = packed.run<T>(device, data, scale, adds);
    return true;
  }
  if (direct.fits()) status = direct.run<T>(device, data, scale, adds);
  return direct.fits();
}

template <class Leaf>
bool multiply(const Box<Leaf>& box, const Device& device, double scale, int& status) {
  if (box.is_empty()) return Leaf::kAdds;
  ProductAxes axes(Leaf::kIndices);
  for (int v = 0; v < Leaf::kIndices; ++v) {
    axes[static_cast<size_t>(v)].extent = box.count[v];
    for (int o = 0; o < 3; ++o) axes[static_cast<size_t>(v)].strides[o] = box.stride[o][v];
  }
  return multiply<typename Leaf::T>(axes, box.data, device, scale, Leaf::kAdds, status);
}

}  // namespace distal_gpu
