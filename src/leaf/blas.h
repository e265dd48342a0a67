#pragma once

#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

#include "lang/element_type.h"
#include "leaf/blas_library.h"

namespace distal::core {

// The view of a matrix that a kernel works on: an address and two strides, in elements.
template <class T>
struct Matrix {
  T* data;
  int64_t row, column;  // strides: from one row, or column, to the next

  Matrix transposed() const { return {data, column, row}; }
};

namespace blas {

inline bool fits_int(int64_t n) { return n <= std::numeric_limits<int>::max(); }

// The arguments for one operand of a BLAS call. Not possible if no stride of the matrix is 1.
struct Operand {
  bool possible = false;
  CBLAS_TRANSPOSE transpose = CblasNoTrans;
  int leading = 1;  // leading dimension
};

template <class T>
Operand operand(const Matrix<T>& m, int64_t rows, int64_t columns) {
  // The stride of a dimension with one element is never used, so any value will do.
  bool by_rows = m.column == 1 || columns == 1;
  bool by_columns = m.row == 1 || rows == 1;
  int64_t row = rows == 1 ? columns : m.row;
  int64_t column = columns == 1 ? rows : m.column;
  if (by_rows && row >= columns && fits_int(row)) return {true, CblasNoTrans, static_cast<int>(row)};
  if (by_columns && column >= rows && fits_int(column)) return {true, CblasTrans, static_cast<int>(column)};
  return {};
}

// The BLAS calls of the leaves, on row-major matrices. `scale` is alpha of BLAS. `keep` is beta: 1 adds to the output,
// 0 overwrites it.

template <class T>
const Cblas<T>& functions() {
  thread_local const bool has_memory = (require_memory_for_calls(), true);
  static_cast<void>(has_memory);
  return std::get<Cblas<T>>(blas_library().functions);
}

template <class T>
void gemm(CBLAS_TRANSPOSE tb, CBLAS_TRANSPOSE tc, int m, int n, int k, const T* b, int ldb, const T* c, int ldc, T* a,
          int lda, const T& scale, const T& keep) {
  functions<T>().gemm(CblasRowMajor, tb, tc, m, n, k, CblasScalar<T>::of(scale), b, ldb, c, ldc,
                      CblasScalar<T>::of(keep), a, lda);
}

template <class T>
void gemv(CBLAS_TRANSPOSE t, int m, int n, const T* b, int ldb, const T* x, int incx, T* y, int incy, const T& scale) {
  const T one = 1;
  functions<T>().gemv(CblasRowMajor, t, m, n, CblasScalar<T>::of(scale), b, ldb, x, incx, CblasScalar<T>::of(one), y,
                      incy);
}

template <class T>
void ger(int m, int n, const T* x, int incx, const T* y, int incy, T* a, int lda, const T& scale) {
  functions<T>().ger(CblasRowMajor, m, n, CblasScalar<T>::of(scale), x, incx, y, incy, a, lda);
}

template <class T>
void axpy(int n, const T& scale, const T* x, int incx, T* y, int incy) {
  functions<T>().axpy(n, CblasScalar<T>::of(scale), x, incx, y, incy);
}

template <class T>
T dot(int n, const T* x, int incx, const T* y, int incy) {
  if constexpr (std::is_floating_point_v<T>) {
    return functions<T>().dot(n, x, incx, y, incy);
  } else {
    T out;
    functions<T>().dot(n, x, incx, y, incy, &out);
    return out;
  }
}

// a = keep * a + scale * b * c, where b is m x k and c is k x n. Returns false and does nothing if BLAS cannot take the
// strides or the sizes.
template <class T>
bool multiply(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c,
              const T& scale, const T& keep) {
  Operand out = operand(a, m, n), left = operand(b, m, k), right = operand(c, k, n);
  if (!out.possible || !left.possible || !right.possible || !fits_int(m) || !fits_int(n) || !fits_int(k)) return false;
  // A is column-major: compute its transpose, which is row-major, from the transposes of the operands.
  if (out.transpose == CblasTrans)
    return multiply(n, m, k, a.transposed(), c.transposed(), b.transposed(), scale, keep);
  gemm(left.transpose, right.transpose, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), b.data,
       left.leading, c.data, right.leading, a.data, out.leading, scale, keep);
  return true;
}

}  // namespace blas

}  // namespace distal::core
