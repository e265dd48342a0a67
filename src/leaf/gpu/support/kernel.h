// Building blocks for the GPU kernels of leaves. Nothing here depends on Legion.
#pragma once

#include <cstdint>

namespace distal_gpu {

using Int = std::int64_t;

#ifdef __CUDACC__
template <class... Parameters, class... Arguments>
void launch_blocks(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, CUstream_st* stream,
                   const Arguments&... arguments) {
  kernel<<<blocks, threads, 0, stream>>>(arguments...);
}

// Where tests that emulate a GPU may run other threads.
inline __device__ void let_others_run() {}
#endif

// Has the memory layout of std::complex, whose operators do not work on GPUs.
template <class Real>
struct Complex {
  Real real, imaginary;

  __device__ Complex(Real r = 0, Real i = 0) : real(r), imaginary(i) {}
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

// Adds atomically if `shared`: other threads may add to the same element.
template <class T, class C>
__device__ void add(T& to, const C& addend, bool shared) {
  if (shared) {
    add_atomically(to, addend);
  } else {
    const C old = C(to);
    let_others_run();
    to = T(old + addend);
  }
}

inline __device__ Int number_of_thread() { return static_cast<Int>(blockIdx.x) * blockDim.x + threadIdx.x; }
inline __device__ Int count_of_threads() { return static_cast<Int>(gridDim.x) * blockDim.x; }

constexpr unsigned kBlock = 256;

inline unsigned blocks_for(Int threads) {
  constexpr Int most = 1 << 16;
  Int wanted = (threads + kBlock - 1) / kBlock;
  return static_cast<unsigned>(wanted < most ? wanted : most);
}

// Starts a kernel with at least `threads` threads, or with as many as a grid may have.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), Int threads, CUstream_st* stream, const Arguments&... arguments) {
  launch_blocks(kernel, blocks_for(threads), kBlock, stream, arguments...);
}

// The number of slices that a sum is divided into, so that a kernel with few output elements also fills a GPU.
inline Int slices_for(Int elements, Int sum) {
  Int wanted = (Int{1} << 17) / elements;
  return wanted < 1 ? 1 : wanted < sum ? wanted : sum;
}

}  // namespace distal_gpu
