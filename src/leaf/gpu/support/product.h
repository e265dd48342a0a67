// Products of matrices by cuBLAS. Nothing here depends on Legion.
#pragma once

#include <cublas_v2.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "box.h"
#include "lang/index_role.h"

namespace distal_gpu {

// An index of output += left * right: its extent and its strides in the three tensors, in elements.
struct ProductAxis {
  Int extent = 1;
  Int strides[3] = {0, 0, 0};

  bool is_in(int operand) const { return strides[operand] != 0; }
  Int largest_stride() const { return std::max({strides[0], strides[1], strides[2]}); }
};

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

inline cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, Int m, Int n, Int k,
                           const float* alpha, const float* x, Int ldx, Int stride_x, const float* y, Int ldy,
                           Int stride_y, const float* beta, float* z, Int ldz, Int stride_z, Int count) {
  if (count == 1) return cublasSgemm_64(h, a, b, m, n, k, alpha, x, ldx, y, ldy, beta, z, ldz);
  return cublasSgemmStridedBatched_64(h, a, b, m, n, k, alpha, x, ldx, stride_x, y, ldy, stride_y, beta, z, ldz,
                                      stride_z, count);
}
inline cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, Int m, Int n, Int k,
                           const double* alpha, const double* x, Int ldx, Int stride_x, const double* y, Int ldy,
                           Int stride_y, const double* beta, double* z, Int ldz, Int stride_z, Int count) {
  if (count == 1) return cublasDgemm_64(h, a, b, m, n, k, alpha, x, ldx, y, ldy, beta, z, ldz);
  return cublasDgemmStridedBatched_64(h, a, b, m, n, k, alpha, x, ldx, stride_x, y, ldy, stride_y, beta, z, ldz,
                                      stride_z, count);
}
inline cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, Int m, Int n, Int k,
                           const cuComplex* alpha, const cuComplex* x, Int ldx, Int stride_x, const cuComplex* y,
                           Int ldy, Int stride_y, const cuComplex* beta, cuComplex* z, Int ldz, Int stride_z,
                           Int count) {
  if (count == 1) return cublasCgemm_64(h, a, b, m, n, k, alpha, x, ldx, y, ldy, beta, z, ldz);
  return cublasCgemmStridedBatched_64(h, a, b, m, n, k, alpha, x, ldx, stride_x, y, ldy, stride_y, beta, z, ldz,
                                      stride_z, count);
}
inline cublasStatus_t gemm(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, Int m, Int n, Int k,
                           const cuDoubleComplex* alpha, const cuDoubleComplex* x, Int ldx, Int stride_x,
                           const cuDoubleComplex* y, Int ldy, Int stride_y, const cuDoubleComplex* beta,
                           cuDoubleComplex* z, Int ldz, Int stride_z, Int count) {
  if (count == 1) return cublasZgemm_64(h, a, b, m, n, k, alpha, x, ldx, y, ldy, beta, z, ldz);
  return cublasZgemmStridedBatched_64(h, a, b, m, n, k, alpha, x, ldx, stride_x, y, ldy, stride_y, beta, z, ldz,
                                      stride_z, count);
}

// cuBLAS's name of an element type.
template <class T>
struct BlasType {
  using Type = T;
};
template <>
struct BlasType<Complex<float>> {
  using Type = cuComplex;
};
template <>
struct BlasType<Complex<double>> {
  using Type = cuDoubleComplex;
};
template <>
struct BlasType<std::complex<float>> {
  using Type = cuComplex;
};
template <>
struct BlasType<std::complex<double>> {
  using Type = cuDoubleComplex;
};

template <class T>
struct RealType {
  using Type = T;
};
template <template <class> class Numbers, class Real>
struct RealType<Numbers<Real>> {
  using Type = Real;
};
template <class T>
using RealOf = typename RealType<T>::Type;

// A product of two tensors as a loop over matrix products: three indices form a matrix product, one may be its batch,
// and the loop runs over all others.
class MatrixProduct {
 public:
  explicit MatrixProduct(std::vector<ProductAxis> axes) {
    fuse(axes);
    choose(axes);
  }

  // Whether cuBLAS can do it in at most kMostCalls calls.
  bool fits() const { return fits_; }

  // Adds `scale` times the product of operands 1 and 2 to operand 0, on the handle's stream.
  template <class T>
  cublasStatus_t run(cublasHandle_t handle, T* const (&data)[3], double scale) const {
    return run_outer<T>(handle, {data[0], data[1], data[2]}, T(static_cast<RealOf<T>>(scale)), 0);
  }

 private:
  static constexpr Int kMostCalls = 1024;

  // Fuses two indices into one if the outer one continues the inner one in all tensors.
  static void fuse(std::vector<ProductAxis>& axes) {
    axes.erase(std::remove_if(axes.begin(), axes.end(), [](const ProductAxis& a) { return a.extent == 1; }),
               axes.end());
    std::sort(axes.begin(), axes.end(),
              [](const ProductAxis& a, const ProductAxis& b) { return a.largest_stride() > b.largest_stride(); });
    for (size_t i = 0; i + 1 < axes.size();) {
      bool continues = true;
      for (int o = 0; o < 3; ++o) {
        continues = continues && axes[i].strides[o] == axes[i + 1].extent * axes[i + 1].strides[o];
      }
      if (!continues) {
        ++i;
        continue;
      }
      axes[i + 1].extent *= axes[i].extent;
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // Chooses the indices of the largest matrix product that cuBLAS takes.
  void choose(const std::vector<ProductAxis>& axes) {
    using Axes = std::vector<ProductAxis>;
    auto roles = distal::core::sort_by_role<Axes>(axes, [](const ProductAxis& a, int o) { return a.is_in(o); });
    if (!roles) return;
    for (Axes* all : {&roles->rows, &roles->columns, &roles->sums}) {
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

  // Chooses the largest other index as the batch, but no sum index: all its products add to the same elements.
  void keep_rest(const std::vector<ProductAxis>& axes) {
    auto same = [](const ProductAxis& a, const ProductAxis& b) {
      return a.extent == b.extent && std::equal(a.strides, a.strides + 3, b.strides);
    };
    for (const ProductAxis& a : axes) {
      if (!same(a, row_) && !same(a, column_) && !same(a, sum_)) outer_.push_back(a);
    }
    auto batch = outer_.end();
    for (auto a = outer_.begin(); a != outer_.end(); ++a) {
      if (a->is_in(0) && (batch == outer_.end() || a->extent > batch->extent)) batch = a;
    }
    if (batch != outer_.end()) {
      batch_ = *batch;
      outer_.erase(batch);
    }
    Int calls = 1;
    for (const ProductAxis& a : outer_) calls *= a.extent;
    fits_ = calls <= kMostCalls;
  }

  template <class T>
  cublasStatus_t run_outer(cublasHandle_t handle, std::vector<T*> at, const T& scale, size_t depth) const {
    if (depth == outer_.size()) return run_one(handle, at, scale);
    for (Int x = 0; x < outer_[depth].extent; ++x) {
      cublasStatus_t status = run_outer(handle, at, scale, depth + 1);
      if (status != CUBLAS_STATUS_SUCCESS) return status;
      for (int o = 0; o < 3; ++o) at[static_cast<size_t>(o)] += outer_[depth].strides[o];
    }
    return CUBLAS_STATUS_SUCCESS;
  }

  // cuBLAS writes column-major outputs. A row-major output is computed as its transpose: right times left.
  template <class T>
  cublasStatus_t run_one(cublasHandle_t handle, const std::vector<T*>& at, const T& scale) const {
    using B = typename BlasType<T>::Type;
    const T one(1);
    Matrix output(row_, column_, 0), left(row_, sum_, 1), right(sum_, column_, 2);
    bool turned = output.transposed;
    const Matrix& x = turned ? right : left;
    const Matrix& y = turned ? left : right;
    int first = turned ? 2 : 1, second = turned ? 1 : 2;
    return gemm(handle, x.operation(turned), y.operation(turned), turned ? column_.extent : row_.extent,
                turned ? row_.extent : column_.extent, sum_.extent, reinterpret_cast<const B*>(&scale),
                reinterpret_cast<const B*>(at[static_cast<size_t>(first)]), x.leading, batch_.strides[first],
                reinterpret_cast<const B*>(at[static_cast<size_t>(second)]), y.leading, batch_.strides[second],
                reinterpret_cast<const B*>(&one), reinterpret_cast<B*>(at[0]), output.leading, batch_.strides[0],
                batch_.extent);
  }

  ProductAxis row_, column_, sum_, batch_;
  std::vector<ProductAxis> outer_;
  bool fits_ = false;
};

// Adds `scale` times the product of operands 1 and 2 of a box to operand 0. Returns false, and does nothing, if cuBLAS
// does not take tensors with these strides; else `status` is cuBLAS's.
template <class Leaf>
bool multiply(const Box<Leaf>& box, const Device& device, double scale, int& status) {
  if (box.is_empty()) return true;
  std::vector<ProductAxis> axes(Leaf::kIndices);
  for (int v = 0; v < Leaf::kIndices; ++v) {
    axes[static_cast<size_t>(v)].extent = box.count[v];
    for (int o = 0; o < 3; ++o) axes[static_cast<size_t>(v)].strides[o] = box.stride[o][v];
  }
  const MatrixProduct product(axes);
  if (!product.fits()) return false;
  status = product.run<typename Leaf::T>(device.blas, box.data, scale);
  return true;
}

}  // namespace distal_gpu
