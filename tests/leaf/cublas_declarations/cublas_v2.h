// What leaves use of cuBLAS, declared only: nvcc from PyPI compiles them where cuBLAS's own header is missing.
#pragma once

#include <cuComplex.h>

#include <cstdint>

using cublasHandle_t = struct cublasContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };

#define DISTAL_DECLARE_GEMM(LETTER, T)                                                                                \
  cublasStatus_t cublas##LETTER##gemm_64(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t m, int64_t n,  \
                                         int64_t k, const T* alpha, const T* x, int64_t ldx, const T* y, int64_t ldy, \
                                         const T* beta, T* z, int64_t ldz);                                           \
  cublasStatus_t cublas##LETTER##gemmStridedBatched_64(                                                               \
      cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t m, int64_t n, int64_t k, const T* alpha,          \
      const T* x, int64_t ldx, long long stride_x, const T* y, int64_t ldy, long long stride_y, const T* beta, T* z,  \
      int64_t ldz, long long stride_z, int64_t count);                                                                \
  cublasStatus_t cublas##LETTER##gemmBatched_64(cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t m,      \
                                                int64_t n, int64_t k, const T* alpha, const T* const* x, int64_t ldx, \
                                                const T* const* y, int64_t ldy, const T* beta, T* const* z,           \
                                                int64_t ldz, int64_t count);

extern "C" {
DISTAL_DECLARE_GEMM(S, float)
DISTAL_DECLARE_GEMM(D, double)
DISTAL_DECLARE_GEMM(C, cuComplex)
DISTAL_DECLARE_GEMM(Z, cuDoubleComplex)
}
#undef DISTAL_DECLARE_GEMM
