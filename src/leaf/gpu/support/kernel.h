// Building blocks for the GPU kernels of leaves. Nothing here depends on Legion.
#pragma once

#include <cstdint>
#include <cstring>

#include "device.h"

namespace distal_gpu {

using Int = std::int64_t;

#ifdef __CUDACC__
template <class... Parameters, class... Arguments>
void launch_blocks(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, std::size_t shared_bytes,
                   CUstream_st* stream, const Arguments&... arguments) {
  kernel<<<blocks, threads, shared_bytes, stream>>>(arguments...);
}

// The `shared_bytes` of the block.
inline __device__ unsigned char* shared_memory() {
  extern __shared__ __align__(16) unsigned char distal_shared_memory[];
  return distal_shared_memory;
}
#endif

constexpr unsigned kWarp = 32;
constexpr unsigned kWholeWarp = 0xffffffff;

// Has the memory layout of std::complex, whose operators do not work on GPUs.
template <class Real>
struct Complex {
  Real real, imaginary;

  __host__ __device__ Complex(Real r = 0, Real i = 0) : real(r), imaginary(i) {}
  __device__ Complex& operator+=(const Complex& other) { return *this = *this + other; }
  __device__ Complex& operator-=(const Complex& other) { return *this = *this - other; }
  friend __device__ Complex operator+(const Complex& a, const Complex& b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
  friend __device__ Complex operator-(const Complex& a, const Complex& b) {
    return {a.real - b.real, a.imaginary - b.imaginary};
  }
  friend __device__ Complex operator*(const Complex& a, const Complex& b) {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
};

// Adds in the type to compute in.
template <class T, class C>
__device__ void add(T& to, const C& addend) {
  to = T(C(to) + addend);
}

inline __device__ void add_atomically(float& to, float addend) { atomicAdd(&to, addend); }
inline __device__ void add_atomically(double& to, double addend) { atomicAdd(&to, addend); }
inline __device__ void add_atomically(std::int32_t& to, std::uint32_t addend) {
  atomicAdd(reinterpret_cast<unsigned*>(&to), addend);
}
inline __device__ void add_atomically(std::int64_t& to, std::uint64_t addend) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(addend));
}
template <class Real>
__device__ void add_atomically(Complex<Real>& to, const Complex<Real>& addend) {
  atomicAdd(&to.real, addend.real);
  atomicAdd(&to.imaginary, addend.imaginary);
}

inline __device__ Int number_of_thread() { return static_cast<Int>(blockIdx.x) * blockDim.x + threadIdx.x; }
inline __device__ Int count_of_threads() { return static_cast<Int>(gridDim.x) * blockDim.x; }

constexpr unsigned kBlock = 128;

inline unsigned blocks_for(Int threads) {
  constexpr Int most = Int{1} << 30;
  Int wanted = (threads + kBlock - 1) / kBlock;
  return static_cast<unsigned>(wanted < most ? wanted : most);
}

// Starts a kernel with at least `threads` threads, or with as many as a grid may have.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), Int threads, CUstream_st* stream, const Arguments&... arguments) {
  launch_blocks(kernel, blocks_for(threads), kBlock, 0, stream, arguments...);
}

// The value of the thread of the warp whose lane differs in these bits.
template <class C>
__device__ C from_lane(const C& value, int bits) {
  static_assert(sizeof(C) % sizeof(unsigned) == 0);
  constexpr int kWords = sizeof(C) / sizeof(unsigned);
  unsigned words[kWords];
  memcpy(words, &value, sizeof(C));
#pragma unroll
  for (int w = 0; w < kWords; ++w) words[w] = __shfl_xor_sync(kWholeWarp, words[w], bits);
  C out;
  memcpy(&out, words, sizeof(C));
  return out;
}

}  // namespace distal_gpu
