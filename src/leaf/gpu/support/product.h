// Products of two tensors by cuBLAS. Nothing here depends on Legion.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "cublas_calls.h"
#include "lang/index_role.h"
#include "sums.h"

namespace distal_gpu {

// An index of output += left * right: its extent and its strides in the three tensors, in elements.
struct ProductAxis {
  Int extent = 1;
  Int strides[3] = {0, 0, 0};

  bool is_in(int operand) const { return strides[operand] != 0; }
  Int largest_stride() const { return std::max({strides[0], strides[1], strides[2]}); }
};
using ProductAxes = std::vector<ProductAxis>;

// A matrix as cuBLAS takes it: column-major, or transposed (row-major), with the leading dimension `leading`.
struct Matrix {
  bool fits = false;
  bool transposed = false;
  Int leading = 1;

  Matrix(const ProductAxis& rows, const ProductAxis& columns, int operand) {
    Int down = rows.strides[operand], across = columns.strides[operand];
    if ((down == 1 || rows.extent == 1) && (across >= rows.extent || columns.extent == 1)) {
      fits = true;
      leading = columns.extent == 1 ? rows.extent : across;
    } else if ((across == 1 || columns.extent == 1) && (down >= columns.extent || rows.extent == 1)) {
      fits = transposed = true;
      leading = rows.extent == 1 ? columns.extent : down;
    }
  }
  cublasOperation_t operation(bool turned) const { return transposed == turned ? CUBLAS_OP_N : CUBLAS_OP_T; }
};

// Without axes of one element, and with two axes as one if the outer one continues the inner one in all tensors.
inline ProductAxes fused(ProductAxes axes) {
  axes.erase(std::remove_if(axes.begin(), axes.end(), [](const ProductAxis& a) { return a.extent == 1; }), axes.end());
  std::sort(axes.begin(), axes.end(),
            [](const ProductAxis& a, const ProductAxis& b) { return a.largest_stride() > b.largest_stride(); });
  auto continues = [](const ProductAxis& outer, const ProductAxis& inner) {
    for (int o = 0; o < 3; ++o) {
      if (outer.strides[o] != inner.extent * inner.strides[o]) return false;
    }
    return true;
  };
  for (size_t outer = 0; outer < axes.size();) {
    size_t inner = 0;
    while (inner < axes.size() && (inner == outer || !continues(axes[outer], axes[inner]))) ++inner;
    if (inner == axes.size()) {
      ++outer;
      continue;
    }
    axes[inner].extent *= axes[outer].extent;
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(outer));
    outer = 0;
  }
  return axes;
}

using ProductRoles = distal::core::IndicesByRole<ProductAxes>;
inline std::optional<ProductRoles> roles_of(const ProductAxes& axes) {
  return distal::core::sort_by_role<ProductAxes>(axes, [](const ProductAxis& a, int o) { return a.is_in(o); });
}

// What a product costs, in seconds on a recent GPU. Only comparisons count.
struct ProductCost {
  static constexpr double kFlops = 6e13, kCache = 5e12, kMemory = 4e12, kLaunch = 5e-6;
  static constexpr Int kTile = 128;

  static double of_matrices(Int m, Int n, Int k, Int count, size_t element) {
    const double moved = static_cast<double>(m * k * ceildiv(n, kTile) + k * n * ceildiv(m, kTile) + 2 * m * n);
    const double points = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    return kLaunch +
           static_cast<double>(count) * std::max(2 * points / kFlops, moved * static_cast<double>(element) / kCache);
  }
};

// The addresses of a batch of matrices, one after the other in three arrays.
struct BatchPlaces {
  static constexpr int kMost = 6;
  Int extent[kMost] = {1, 1, 1, 1, 1, 1};
  Int stride[3][kMost] = {};
  Int count = 1;
};
template <class T>
__global__ void write_addresses(const BatchPlaces places, T* output, T* left, T* right, T** to) {
  for (Int n = number_of_thread(); n < places.count; n += count_of_threads()) {
    T* at[3] = {output, left, right};
    Int rest = n;
#pragma unroll
    for (int v = 0; v < BatchPlaces::kMost; ++v) {
      const Int x = take(rest, places.extent[v]);
#pragma unroll
      for (int o = 0; o < 3; ++o) at[o] += x * places.stride[o][v];
    }
#pragma unroll
    for (int o = 0; o < 3; ++o) to[o * places.count + n] = at[o];
  }
}

// The real type of a type of numbers.
template <class T>
struct RealType {
  using Type = T;
};
template <template <class> class Numbers, class Real>
struct RealType<Numbers<Real>> {
  using Type = Real;
};

// A product of two tensors as one call of cuBLAS, or a loop of calls over indices of sums: three indices form a product
// of matrices, the others of the output are its batch.
class MatrixProduct {
 public:
  static constexpr Int kMostCalls = 1024;

  explicit MatrixProduct(const ProductAxes& axes) { choose(fused(axes)); }

  // Whether cuBLAS can do it in at most kMostCalls calls.
  bool fits() const { return fits_; }

  double cost(size_t element) const {
    Int count = 1;
    for (const ProductAxis& a : batch_) count *= a.extent;
    return static_cast<double>(calls()) *
           ProductCost::of_matrices(row_.extent, column_.extent, sum_.extent, count, element);
  }

  // Adds `scale` times the product of operands 1 and 2 to operand 0, or, unless it `adds`, overwrites that.
  template <class T>
  cublasStatus_t run(const Device& device, T* const (&data)[3], double scale, bool adds = true) const {
    T** addresses = nullptr;
    if (batch_.size() > 1) {
      addresses = static_cast<T**>(device.scratch);
      const BatchPlaces places = batch_places();
      if (static_cast<size_t>(places.count) * 3 * sizeof(T*) > device.scratch_bytes) addresses = nullptr;
    }
    using Real = typename RealType<T>::Type;
    return run_sums<T>(device, addresses, {data[0], data[1], data[2]}, T(static_cast<Real>(scale)), adds, 0);
  }

 private:
  // Chooses the indices of the largest product of matrices that cuBLAS takes.
  void choose(const ProductAxes& axes) {
    auto roles = roles_of(axes);
    if (!roles) return;
    for (ProductAxes* all : {&roles->rows, &roles->columns, &roles->sums}) {
      if (all->empty()) all->push_back({});
    }
    Int best = 0;
    for (const ProductAxis& r : roles->rows) {
      for (const ProductAxis& c : roles->columns) {
        for (const ProductAxis& s : roles->sums) {
          Int size = r.extent * c.extent * s.extent;
          if (size <= best || !Matrix(r, c, 0).fits || !Matrix(r, s, 1).fits || !Matrix(s, c, 2).fits) continue;
          best = size;
          row_ = r;
          column_ = c;
          sum_ = s;
        }
      }
    }
    if (best > 0) keep_rest(axes);
  }

  void keep_rest(const ProductAxes& axes) {
    auto same = [](const ProductAxis& a, const ProductAxis& b) {
      return a.extent == b.extent && std::equal(a.strides, a.strides + 3, b.strides);
    };
    for (const ProductAxis& a : axes) {
      if (same(a, row_) || same(a, column_) || same(a, sum_)) continue;
      // The products of a batch must not add to the same elements.
      (a.is_in(0) ? batch_ : outer_sums_).push_back(a);
    }
    std::stable_sort(batch_.begin(), batch_.end(),
                     [](const ProductAxis& a, const ProductAxis& b) { return a.extent > b.extent; });
    fits_ = calls() <= kMostCalls && batch_.size() <= static_cast<size_t>(BatchPlaces::kMost);
  }

  Int calls() const {
    Int out = 1;
    for (const ProductAxis& a : outer_sums_) out *= a.extent;
    return out;
  }

  template <class T>
  cublasStatus_t run_sums(const Device& device, T** addresses, std::vector<T*> at, const T& scale, bool adds,
                          size_t depth) const {
    if (depth == outer_sums_.size()) return run_batch(device, addresses, at, scale, adds, 1);
    for (Int x = 0; x < outer_sums_[depth].extent; ++x) {
      cublasStatus_t status = run_sums(device, addresses, at, scale, adds || x > 0, depth + 1);
      if (status != CUBLAS_STATUS_SUCCESS) return status;
      for (int o = 0; o < 3; ++o) at[static_cast<size_t>(o)] += outer_sums_[depth].strides[o];
    }
    return CUBLAS_STATUS_SUCCESS;
  }

  // A batch of several indices is a batch of addresses, or, if there is no memory for these, a loop around its largest
  // index.
  template <class T>
  cublasStatus_t run_batch(const Device& device, T** addresses, std::vector<T*> at, const T& scale, bool adds,
                           size_t depth) const {
    if (addresses || depth >= batch_.size()) return run_one(device, addresses, at, scale, adds);
    for (Int x = 0; x < batch_[depth].extent; ++x) {
      cublasStatus_t status = run_batch(device, addresses, at, scale, adds, depth + 1);
      if (status != CUBLAS_STATUS_SUCCESS) return status;
      for (int o = 0; o < 3; ++o) at[static_cast<size_t>(o)] += batch_[depth].strides[o];
    }
    return CUBLAS_STATUS_SUCCESS;
  }

  BatchPlaces batch_places() const {
    BatchPlaces out;
    for (size_t b = 0; b < batch_.size(); ++b) {
      out.extent[b] = batch_[b].extent;
      for (int o = 0; o < 3; ++o) out.stride[o][b] = batch_[b].strides[o];
      out.count *= batch_[b].extent;
    }
    return out;
  }

  // cuBLAS writes column-major outputs. A row-major output is computed as its transpose: right times left.
  template <class T>
  cublasStatus_t run_one(const Device& device, T** addresses, const std::vector<T*>& at, const T& scale,
                         bool adds) const {
    using B = typename BlasType<T>::Type;
    const T beta(static_cast<typename RealType<T>::Type>(adds ? 1 : 0));
    const Matrix output(row_, column_, 0), left(row_, sum_, 1), right(sum_, column_, 2);
    const bool turned = output.transposed;
    const Matrix &x = turned ? right : left, &y = turned ? left : right;
    const int first = turned ? 2 : 1, second = turned ? 1 : 2;
    const ProductAxis batch = batch_.empty() ? ProductAxis{} : batch_[0];
    MatrixCall call{x.operation(turned),
                    y.operation(turned),
                    turned ? column_.extent : row_.extent,
                    turned ? row_.extent : column_.extent,
                    sum_.extent,
                    x.leading,
                    batch.strides[first],
                    y.leading,
                    batch.strides[second],
                    output.leading,
                    batch.strides[0],
                    batch.extent};
    const auto* alpha = reinterpret_cast<const B*>(&scale);
    const auto* factor = reinterpret_cast<const B*>(&beta);
    if (!addresses) {
      return gemm(device.blas, call, alpha, reinterpret_cast<const B*>(at[static_cast<size_t>(first)]),
                  reinterpret_cast<const B*>(at[static_cast<size_t>(second)]), factor, reinterpret_cast<B*>(at[0]));
    }
    const BatchPlaces places = batch_places();
    call.count = places.count;
    launch(write_addresses<T>, places.count, device.stream, places, at[0], at[1], at[2], addresses);
    auto array = [&](int o) { return reinterpret_cast<B* const*>(addresses + o * places.count); };
    return gemm(device.blas, call, alpha, array(first), array(second), factor, array(0));
  }

  ProductAxis row_, column_, sum_;
  ProductAxes batch_, outer_sums_;
  bool fits_ = false;
};

}  // namespace distal_gpu
