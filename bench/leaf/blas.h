#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

// A BLAS that is loaded at run time. Its process must not use DISTAL, which sets the number of threads of the BLAS.
namespace leaf {

constexpr int kRowMajor = 101, kNoTrans = 111;

class Blas {
 public:
  explicit Blas(int threads) {
    const char* given = std::getenv("DISTAL_BLAS");
    const char* name = given && *given ? given : "libopenblas.so.0";
    // An OpenBLAS that is older than the CPU uses kernels without AVX.
    if (__builtin_cpu_supports("avx512f")) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    setenv("OPENBLAS_NUM_THREADS", std::to_string(threads).c_str(), 1);
    library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw std::runtime_error(dlerror());
    load(dgemm, "cblas_dgemm");
    load(sgemm, "cblas_sgemm");
    load(dgemv, "cblas_dgemv");
    load(ddot, "cblas_ddot");
  }

  // The version of the BLAS, its kernels for the CPU, and its threads.
  std::string about() const {
    return text("openblas_get_config", "BLAS") + ", kernels " + text("openblas_get_corename", "unknown");
  }

  // c = a b for row-major matrices. `leading` is the leading dimension of a; 0 stands for k.
  void gemm(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c, int64_t leading = 0) const {
    dgemm(kRowMajor, kNoTrans, kNoTrans, to_int(m), to_int(n), to_int(k), 1.0, a, to_int(leading ? leading : k), b,
          to_int(n), 0.0, c, to_int(n));
  }
  void gemm(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c, int64_t leading = 0) const {
    sgemm(kRowMajor, kNoTrans, kNoTrans, to_int(m), to_int(n), to_int(k), 1.0F, a, to_int(leading ? leading : k), b,
          to_int(n), 0.0F, c, to_int(n));
  }
  // y = A x for a row-major m x n matrix.
  void gemv(int64_t m, int64_t n, const double* a, const double* x, double* y) const {
    dgemv(kRowMajor, kNoTrans, to_int(m), to_int(n), 1.0, a, to_int(n), x, 1, 0.0, y, 1);
  }
  double dot(int64_t n, const double* x, const double* y) const {
    constexpr int64_t kChunk = int64_t{1} << 28;  // the BLAS takes 32-bit sizes
    double sum = 0;
    for (int64_t at = 0; at < n; at += kChunk) sum += ddot(to_int(std::min(kChunk, n - at)), x + at, 1, y + at, 1);
    return sum;
  }

 private:
  static int to_int(int64_t n) { return static_cast<int>(n); }

  template <class F>
  void load(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library_, name));
    if (!function) throw std::runtime_error(std::string("the BLAS has no ") + name);
  }
  std::string text(const char* name, const char* fallback) const {
    auto* f = reinterpret_cast<const char* (*)()>(dlsym(library_, name));
    return f ? f() : fallback;
  }

  void* library_ = nullptr;
  void (*dgemm)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                int) = nullptr;
  void (*sgemm)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*,
                int) = nullptr;
  void (*dgemv)(int, int, int, int, double, const double*, int, const double*, int, double, double*, int) = nullptr;
  double (*ddot)(int, const double*, int, const double*, int) = nullptr;
};

}  // namespace leaf
