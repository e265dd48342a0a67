// Stands for cuBLAS in tests: products of column-major matrices in plain loops. It refuses what cuBLAS refuses.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>

#include "leaf/emulation/cuda.h"

struct cublasContext {
  int calls = 0;
  bool only_counts = false;  // nothing is multiplied
};
using cublasHandle_t = cublasContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
struct cuComplex {
  float x, y;
};
struct cuDoubleComplex {
  double x, y;
};

namespace fake_cublas {

template <class T>
struct Number {
  using Type = T;
};
template <>
struct Number<cuComplex> {
  using Type = std::complex<float>;
};
template <>
struct Number<cuDoubleComplex> {
  using Type = std::complex<double>;
};

// The element of op(matrix) at a row and a column.
template <class N>
const N& element(const N* matrix, cublasOperation_t operation, int64_t leading, int64_t row, int64_t column) {
  return operation == CUBLAS_OP_N ? matrix[row + column * leading] : matrix[column + row * leading];
}

template <class T>
cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int64_t m, int64_t n, int64_t k,
                    const T* alpha, const T* x, int64_t ldx, int64_t stride_x, const T* y, int64_t ldy,
                    int64_t stride_y, const T* beta, T* z, int64_t ldz, int64_t stride_z, int64_t count) {
  using N = typename Number<T>::Type;
  const emulated_cuda::LibraryCall library_call;
  ++handle->calls;
  if (ldx < std::max<int64_t>(1, a == CUBLAS_OP_N ? m : k) || ldy < std::max<int64_t>(1, b == CUBLAS_OP_N ? k : n) ||
      ldz < std::max<int64_t>(1, m) || m < 0 || n < 0 || k < 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (handle->only_counts) return CUBLAS_STATUS_SUCCESS;
  const N *left = reinterpret_cast<const N*>(x), *right = reinterpret_cast<const N*>(y);
  for (int64_t c = 0; c < count; ++c, left += stride_x, right += stride_y, z += stride_z) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        N sum{};
        for (int64_t s = 0; s < k; ++s) sum += element(left, a, ldx, i, s) * element(right, b, ldy, s, j);
        N& out = reinterpret_cast<N*>(z)[i + j * ldz];
        // With a beta of 0, what was there is not read.
        const N old = *reinterpret_cast<const N*>(beta) == N(0) ? N(0) : *reinterpret_cast<const N*>(beta) * out;
        out = *reinterpret_cast<const N*>(alpha) * sum + old;
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace fake_cublas

// Carries out a batch, one product after the other.
namespace fake_cublas {
template <class T>
cublasStatus_t gemm_batch(cublasHandle_t handle, cublasOperation_t a, cublasOperation_t b, int64_t m, int64_t n,
                          int64_t k, const T* alpha, const T* const* x, int64_t ldx, const T* const* y, int64_t ldy,
                          const T* beta, T* const* z, int64_t ldz, int64_t count) {
  const emulated_cuda::LibraryCall library_call;
  const int calls = handle->calls;
  if (handle->only_counts) count = 0;
  for (int64_t c = 0; c < count; ++c) {
    cublasStatus_t status = gemm(handle, a, b, m, n, k, alpha, x[c], ldx, 0, y[c], ldy, 0, beta, z[c], ldz, 0, 1);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  handle->calls = calls + 1;
  return CUBLAS_STATUS_SUCCESS;
}
}  // namespace fake_cublas

#define FAKE_CUBLAS_GEMM(letter, T)                                                                                    \
  inline cublasStatus_t cublas##letter##gemm_64(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, int64_t m, \
                                                int64_t n, int64_t k, const T* alpha, const T* x, int64_t ldx,         \
                                                const T* y, int64_t ldy, const T* beta, T* z, int64_t ldz) {           \
    return fake_cublas::gemm(h, a, b, m, n, k, alpha, x, ldx, 0, y, ldy, 0, beta, z, ldz, 0, 1);                       \
  }                                                                                                                    \
  inline cublasStatus_t cublas##letter##gemmStridedBatched_64(                                                         \
      cublasHandle_t h, cublasOperation_t a, cublasOperation_t b, int64_t m, int64_t n, int64_t k, const T* alpha,     \
      const T* x, int64_t ldx, long long stride_x, const T* y, int64_t ldy, long long stride_y, const T* beta, T* z,   \
      int64_t ldz, long long stride_z, int64_t count) {                                                                \
    return fake_cublas::gemm(h, a, b, m, n, k, alpha, x, ldx, stride_x, y, ldy, stride_y, beta, z, ldz, stride_z,      \
                             count);                                                                                   \
  }                                                                                                                    \
  inline cublasStatus_t cublas##letter##gemmBatched_64(cublasHandle_t h, cublasOperation_t a, cublasOperation_t b,     \
                                                       int64_t m, int64_t n, int64_t k, const T* alpha,                \
                                                       const T* const* x, int64_t ldx, const T* const* y, int64_t ldy, \
                                                       const T* beta, T* const* z, int64_t ldz, int64_t count) {       \
    return fake_cublas::gemm_batch(h, a, b, m, n, k, alpha, x, ldx, y, ldy, beta, z, ldz, count);                      \
  }

FAKE_CUBLAS_GEMM(S, float)
FAKE_CUBLAS_GEMM(D, double)
FAKE_CUBLAS_GEMM(C, cuComplex)
FAKE_CUBLAS_GEMM(Z, cuDoubleComplex)
