// Fake libraries for the tests of loading: an OpenBLAS that does not know the CPU, and one that is unusable. They are
// built with different values of
//   FAKE_PREFIX  the prefix of all names
//   FAKE_SIZE    the type of sizes
// Only cblas_ddot computes something: loading a library calls it.

#include <cstdint>
#include <cstdlib>
#include <cstring>

#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define FAKE_NAME(name) JOIN(FAKE_PREFIX, name)
#define EXPORT extern "C" __attribute__((visibility("default")))
#define EMPTY(name) \
  EXPORT void FAKE_NAME(cblas_##name)() {}
#define EMPTY_REAL(letter) \
  EMPTY(letter##gemm) EMPTY(letter##syrk) EMPTY(letter##gemv) EMPTY(letter##ger) EMPTY(letter##axpy)
#define EMPTY_COMPLEX(letter) \
  EMPTY(letter##gemm)         \
  EMPTY(letter##syrk) EMPTY(letter##gemv) EMPTY(letter##geru) EMPTY(letter##axpy) EMPTY(letter##dotu_sub)

namespace {

int threads = 64;
char kernels[32] = "Prescott";

// Like OpenBLAS, reads the environment only when the library is loaded.
__attribute__((constructor)) void load() {
  if (const char* number = std::getenv("OPENBLAS_NUM_THREADS")) threads = std::atoi(number);
  if (const char* core = std::getenv("OPENBLAS_CORETYPE")) std::strncpy(kernels, core, sizeof(kernels) - 1);
}

}  // namespace

EMPTY_REAL(s)
EMPTY_REAL(d)
EMPTY_COMPLEX(c)
EMPTY_COMPLEX(z)
EMPTY(sdot)

EXPORT double FAKE_NAME(cblas_ddot)(FAKE_SIZE n, const double* x, FAKE_SIZE incx, const double* y, FAKE_SIZE incy) {
  double sum = 0;
  for (FAKE_SIZE i = 0; i < n; ++i) sum += x[i * incx] * y[i * incy];
  return sum;
}

EXPORT const char* FAKE_NAME(openblas_get_corename)() { return kernels; }
EXPORT const char* FAKE_NAME(openblas_get_config)() { return "OpenBLAS 9.8.7 DYNAMIC_ARCH MAX_THREADS=64"; }
EXPORT int FAKE_NAME(openblas_get_num_threads)() { return threads; }
