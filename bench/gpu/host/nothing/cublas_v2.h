// Stands for CUDA and cuBLAS where only the host's time is measured: launches and products are counted, not done.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __syncthreads()

struct CUstream_st {
  long launches = 0;
};
struct cublasContext {
  long calls = 0;
};
using cublasHandle_t = cublasContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
struct cuComplex {
  float x, y;
};
struct cuDoubleComplex {
  double x, y;
};

struct Index {
  unsigned x = 0;
};
inline Index threadIdx, blockIdx, blockDim, gridDim;

template <class T>
T atomicAdd(T* to, T) {
  return *to;
}
inline unsigned __shfl_xor_sync(unsigned, unsigned value, int) { return value; }

namespace distal_gpu {

inline unsigned char* shared_memory() { return nullptr; }

// Copies the arguments, as a launch does.
template <class... Parameters, class... Arguments>
void launch_blocks(void (*)(Parameters...), unsigned, unsigned, std::size_t, CUstream_st* stream,
                   const Arguments&... arguments) {
  const std::tuple<Parameters...> copied(arguments...);
  asm volatile("" : : "r"(&copied) : "memory");
  ++stream->launches;
}

}  // namespace distal_gpu

#define DISTAL_COUNT(FUNCTION)                                        \
  template <class... Arguments>                                       \
  cublasStatus_t FUNCTION(cublasHandle_t h, Arguments... arguments) { \
    const std::tuple<Arguments...> copied(arguments...);              \
    asm volatile("" : : "r"(&copied) : "memory");                     \
    ++h->calls;                                                       \
    return CUBLAS_STATUS_SUCCESS;                                     \
  }
#define DISTAL_COUNT_ALL(LETTER)                      \
  DISTAL_COUNT(cublas##LETTER##gemm_64)               \
  DISTAL_COUNT(cublas##LETTER##gemmStridedBatched_64) \
  DISTAL_COUNT(cublas##LETTER##gemmBatched_64)

DISTAL_COUNT_ALL(S)
DISTAL_COUNT_ALL(D)
DISTAL_COUNT_ALL(C)
DISTAL_COUNT_ALL(Z)
#undef DISTAL_COUNT_ALL
#undef DISTAL_COUNT
