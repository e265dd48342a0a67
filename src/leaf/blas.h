#pragma once

#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

#include "lang/element_type.h"
#include "leaf/blas_library.h"

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

// The functions that leaves call: on matrices by rows. What was there before is kept as often as `keep` says: once or
// not at all.

template <class T>
const Cblas<T>& functions() {
  thread_local const bool has_room = (require_room_for_calls(), true);
  static_cast<void>(has_room);
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

// a = keep * a + scale * b * c, m x k times k x n; false, and nothing done, where BLAS cannot take the strides or the
// sizes.
template <class T>
bool multiply(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c,
              const T& scale, const T& keep) {
  Operand out = operand(a, m, n), left = operand(b, m, k), right = operand(c, k, n);
  if (!out.possible || !left.possible || !right.possible || !fits(m) || !fits(n) || !fits(k)) return false;
  // A is stored by columns: compute its transpose, which is stored by rows, from the transposes of the operands.
  if (out.transpose == CblasTrans)
    return multiply(n, m, k, a.transposed(), c.transposed(), b.transposed(), scale, keep);
  gemm(left.transpose, right.transpose, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), b.data,
       left.leading, c.data, right.leading, a.data, out.leading, scale, keep);
  return true;
}

}  // namespace blas

}  // namespace distal::core
