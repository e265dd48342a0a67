#pragma once

#include <cblas.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "lang/element_type.h"

namespace distal::core {

// A matrix as a kernel sees it: an address and two strides, in elements.
template <class T>
struct Matrix {
  T* data;
  int64_t row, column;

  Matrix transposed() const { return {data, column, row}; }
};

namespace blas {

inline bool fits(int64_t n) { return n <= std::numeric_limits<int>::max(); }

// How BLAS is to read an operand of `rows` x `columns`; transposed if its rows are the contiguous ones.
struct Operand {
  bool possible = false;
  CBLAS_TRANSPOSE transpose = CblasNoTrans;
  int leading = 1;
};

template <class T>
Operand operand(const Matrix<T>& m, int64_t rows, int64_t columns) {
  // A dimension of one element has no stride that matters.
  bool by_rows = m.column == 1 || columns == 1;
  bool by_columns = m.row == 1 || rows == 1;
  int64_t row_step = rows == 1 ? columns : m.row;
  int64_t column_step = columns == 1 ? rows : m.column;
  if (by_rows && row_step >= columns && fits(row_step)) return {true, CblasNoTrans, static_cast<int>(row_step)};
  if (by_columns && column_step >= rows && fits(column_step)) return {true, CblasTrans, static_cast<int>(column_step)};
  return {};
}

inline void gemm(CBLAS_TRANSPOSE tb, CBLAS_TRANSPOSE tc, int m, int n, int k, const double* b, int ldb, const double* c,
                 int ldc, double* a, int lda) {
  cblas_dgemm(CblasRowMajor, tb, tc, m, n, k, 1.0, b, ldb, c, ldc, 1.0, a, lda);
}
inline void gemm(CBLAS_TRANSPOSE tb, CBLAS_TRANSPOSE tc, int m, int n, int k, const float* b, int ldb, const float* c,
                 int ldc, float* a, int lda) {
  cblas_sgemm(CblasRowMajor, tb, tc, m, n, k, 1.0F, b, ldb, c, ldc, 1.0F, a, lda);
}
inline void gemm(CBLAS_TRANSPOSE tb, CBLAS_TRANSPOSE tc, int m, int n, int k, const std::complex<double>* b, int ldb,
                 const std::complex<double>* c, int ldc, std::complex<double>* a, int lda) {
  std::complex<double> one = 1;
  cblas_zgemm(CblasRowMajor, tb, tc, m, n, k, &one, b, ldb, c, ldc, &one, a, lda);
}
inline void gemm(CBLAS_TRANSPOSE tb, CBLAS_TRANSPOSE tc, int m, int n, int k, const std::complex<float>* b, int ldb,
                 const std::complex<float>* c, int ldc, std::complex<float>* a, int lda) {
  std::complex<float> one = 1;
  cblas_cgemm(CblasRowMajor, tb, tc, m, n, k, &one, b, ldb, c, ldc, &one, a, lda);
}

inline void gemv(CBLAS_TRANSPOSE t, int m, int n, const double* b, int ldb, const double* x, int incx, double* y,
                 int incy) {
  cblas_dgemv(CblasRowMajor, t, m, n, 1.0, b, ldb, x, incx, 1.0, y, incy);
}
inline void gemv(CBLAS_TRANSPOSE t, int m, int n, const float* b, int ldb, const float* x, int incx, float* y,
                 int incy) {
  cblas_sgemv(CblasRowMajor, t, m, n, 1.0F, b, ldb, x, incx, 1.0F, y, incy);
}
inline void gemv(CBLAS_TRANSPOSE t, int m, int n, const std::complex<double>* b, int ldb, const std::complex<double>* x,
                 int incx, std::complex<double>* y, int incy) {
  std::complex<double> one = 1;
  cblas_zgemv(CblasRowMajor, t, m, n, &one, b, ldb, x, incx, &one, y, incy);
}
inline void gemv(CBLAS_TRANSPOSE t, int m, int n, const std::complex<float>* b, int ldb, const std::complex<float>* x,
                 int incx, std::complex<float>* y, int incy) {
  std::complex<float> one = 1;
  cblas_cgemv(CblasRowMajor, t, m, n, &one, b, ldb, x, incx, &one, y, incy);
}

inline void ger(int m, int n, const double* x, int incx, const double* y, int incy, double* a, int lda) {
  cblas_dger(CblasRowMajor, m, n, 1.0, x, incx, y, incy, a, lda);
}
inline void ger(int m, int n, const float* x, int incx, const float* y, int incy, float* a, int lda) {
  cblas_sger(CblasRowMajor, m, n, 1.0F, x, incx, y, incy, a, lda);
}
inline void ger(int m, int n, const std::complex<double>* x, int incx, const std::complex<double>* y, int incy,
                std::complex<double>* a, int lda) {
  std::complex<double> one = 1;
  cblas_zgeru(CblasRowMajor, m, n, &one, x, incx, y, incy, a, lda);
}
inline void ger(int m, int n, const std::complex<float>* x, int incx, const std::complex<float>* y, int incy,
                std::complex<float>* a, int lda) {
  std::complex<float> one = 1;
  cblas_cgeru(CblasRowMajor, m, n, &one, x, incx, y, incy, a, lda);
}

inline double dot(int n, const double* x, int incx, const double* y, int incy) {
  return cblas_ddot(n, x, incx, y, incy);
}
inline float dot(int n, const float* x, int incx, const float* y, int incy) { return cblas_sdot(n, x, incx, y, incy); }
inline std::complex<double> dot(int n, const std::complex<double>* x, int incx, const std::complex<double>* y,
                                int incy) {
  std::complex<double> out;
  cblas_zdotu_sub(n, x, incx, y, incy, &out);
  return out;
}
inline std::complex<float> dot(int n, const std::complex<float>* x, int incx, const std::complex<float>* y, int incy) {
  std::complex<float> out;
  cblas_cdotu_sub(n, x, incx, y, incy, &out);
  return out;
}

// a += b * c, m x k times k x n; false, and nothing done, where BLAS cannot take the strides or the sizes.
template <class T>
bool multiply(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c) {
  Operand out = operand(a, m, n), left = operand(b, m, k), right = operand(c, k, n);
  if (!out.possible || !left.possible || !right.possible || !fits(m) || !fits(n) || !fits(k)) return false;
  // A is stored by columns: compute its transpose, which is stored by rows, from the transposes of the operands.
  if (out.transpose == CblasTrans) return multiply(n, m, k, a.transposed(), c.transposed(), b.transposed());
  gemm(left.transpose, right.transpose, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), b.data,
       left.leading, c.data, right.leading, a.data, out.leading);
  return true;
}

}  // namespace blas

}  // namespace distal::core
