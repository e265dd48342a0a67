// cuBLAS's products of matrices under one name for all element types. Nothing here depends on Legion.
#pragma once

#include <cublas_v2.h>

#include "kernel.h"

namespace distal_gpu {

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

// What a product of matrices is like apart from the addresses: sizes, leading dimensions, and one batch.
struct MatrixCall {
  cublasOperation_t a, b;
  Int m, n, k;
  Int ldx, stride_x, ldy, stride_y, ldz, stride_z;
  Int count;
};

#define DISTAL_CUBLAS_GEMM(LETTER, TYPE)                                                                             \
  inline cublasStatus_t gemm(cublasHandle_t h, const MatrixCall& c, const TYPE* alpha, const TYPE* x, const TYPE* y, \
                             const TYPE* beta, TYPE* z) {                                                            \
    if (c.count == 1) {                                                                                              \
      return cublas##LETTER##gemm_64(h, c.a, c.b, c.m, c.n, c.k, alpha, x, c.ldx, y, c.ldy, beta, z, c.ldz);         \
    }                                                                                                                \
    return cublas##LETTER##gemmStridedBatched_64(h, c.a, c.b, c.m, c.n, c.k, alpha, x, c.ldx, c.stride_x, y, c.ldy,  \
                                                 c.stride_y, beta, z, c.ldz, c.stride_z, c.count);                   \
  }                                                                                                                  \
  inline cublasStatus_t gemm(cublasHandle_t h, const MatrixCall& c, const TYPE* alpha, const TYPE* const* x,         \
                             const TYPE* const* y, const TYPE* beta, TYPE* const* z) {                               \
    return cublas##LETTER##gemmBatched_64(h, c.a, c.b, c.m, c.n, c.k, alpha, x, c.ldx, y, c.ldy, beta, z, c.ldz,     \
                                          c.count);                                                                  \
  }

DISTAL_CUBLAS_GEMM(S, float)
DISTAL_CUBLAS_GEMM(D, double)
DISTAL_CUBLAS_GEMM(C, cuComplex)
DISTAL_CUBLAS_GEMM(Z, cuDoubleComplex)
#undef DISTAL_CUBLAS_GEMM

}  // namespace distal_gpu
