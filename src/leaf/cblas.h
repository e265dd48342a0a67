#pragma once

#include <complex>

namespace distal::core {

// The CBLAS interface, with the names and values of its standard. It is declared here instead of in the header of one
// BLAS, because the library is chosen at run time.
enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 };
enum CBLAS_UPLO { CblasUpper = 121, CblasLower = 122 };

// CBLAS takes a real scalar by value, and a complex one by address.
template <class T>
struct CblasScalar {
  using Type = T;
  static Type of(const T& value) { return value; }
};
template <class T>
struct CblasScalar<std::complex<T>> {
  using Type = const std::complex<T>*;
  static Type of(const std::complex<T>& value) { return &value; }
};

// CBLAS returns a real inner product, and stores a complex one at an address.
template <class T>
struct CblasDot {
  using Type = T (*)(int n, const T* x, int incx, const T* y, int incy);
};
template <class T>
struct CblasDot<std::complex<T>> {
  using Type = void (*)(int n, const std::complex<T>* x, int incx, const std::complex<T>* y, int incy,
                        std::complex<T>* out);
};

// The functions for one element type. Nothing is conjugated: for complex numbers, ger is geru and dot is dotu_sub.
template <class T>
struct Cblas {
  using Scalar = typename CblasScalar<T>::Type;

  void (*gemm)(CBLAS_ORDER, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, Scalar alpha, const T* a,
               int lda, const T* b, int ldb, Scalar beta, T* c, int ldc);
  void (*syrk)(CBLAS_ORDER, CBLAS_UPLO, CBLAS_TRANSPOSE, int n, int k, Scalar alpha, const T* a, int lda, Scalar beta,
               T* c, int ldc);
  void (*gemv)(CBLAS_ORDER, CBLAS_TRANSPOSE, int m, int n, Scalar alpha, const T* a, int lda, const T* x, int incx,
               Scalar beta, T* y, int incy);
  void (*ger)(CBLAS_ORDER, int m, int n, Scalar alpha, const T* x, int incx, const T* y, int incy, T* a, int lda);
  void (*axpy)(int n, Scalar alpha, const T* x, int incx, T* y, int incy);
  typename CblasDot<T>::Type dot;
};

}  // namespace distal::core
