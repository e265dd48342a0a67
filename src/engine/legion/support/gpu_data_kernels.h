// The kernels of gpu_piece.h. To be compiled by nvcc.
#pragma once

#include <complex>
#include <type_traits>

#include "data/random.h"
#include "gpu_piece.h"
#include "kernel.h"

namespace distal_legion {

// A complex number on a GPU, with the memory layout of std::complex.
template <class Real>
struct ComplexParts {
  using value_type = Real;
  Real real, imaginary;
  constexpr ComplexParts(Real r, Real i) : real(r), imaginary(i) {}
};

template <class T>
struct OnGpu {
  using Type = T;
};
template <class Real>
struct OnGpu<std::complex<Real>> {
  using Type = ComplexParts<Real>;
};

using distal_gpu::Int;

// Where an element of a piece lies, and its place.
struct Located {
  Int offset = 0, place = 0;

  __device__ Located(const GpuPiece& piece, Int number) : place(piece.first) {
    for (int d = piece.dimensions; d-- > 0;) {
      const Int c = number % piece.extent[d];
      number /= piece.extent[d];
      offset += c * piece.stride[d];
      place += c * piece.weight[d];
    }
  }
};

template <class G>
__global__ void random_kernel(G* to, const GpuPiece piece, Int end, std::uint64_t seed) {
  for (Int n = distal_gpu::number_of_thread(); n < end; n += distal_gpu::count_of_threads()) {
    const Located at(piece, n);
    to[at.offset] = distal::core::random_value<G>(seed, at.place);
  }
}

template <class G>
__global__ void copy_kernel(G* to, const GpuPiece piece, Int end, const G* from) {
  for (Int n = distal_gpu::number_of_thread(); n < end; n += distal_gpu::count_of_threads()) {
    const Located at(piece, n);
    to[at.offset] = from[at.place];
  }
}

template <class G>
__global__ void scatter_kernel(G* to, const GpuPiece piece, Int begin, Int count, const G* slice) {
  for (Int n = distal_gpu::number_of_thread(); n < count; n += distal_gpu::count_of_threads()) {
    to[Located(piece, begin + n).offset] = slice[n];
  }
}

template <class G>
__global__ void gather_kernel(const G* from, const GpuPiece piece, Int begin, Int count, G* slice) {
  for (Int n = distal_gpu::number_of_thread(); n < count; n += distal_gpu::count_of_threads()) {
    slice[n] = from[Located(piece, begin + n).offset];
  }
}

template <class T>
typename OnGpu<T>::Type* on_gpu(T* data) {
  return reinterpret_cast<typename OnGpu<T>::Type*>(data);
}
template <class T>
const typename OnGpu<T>::Type* on_gpu(const T* data) {
  return reinterpret_cast<const typename OnGpu<T>::Type*>(data);
}

template <class T>
void PieceKernels<T>::make_random(T* to, const GpuPiece& piece, std::uint64_t seed, CUstream_st* stream) {
  distal_gpu::launch(random_kernel<typename OnGpu<T>::Type>, piece.volume(), stream, on_gpu(to), piece, piece.volume(),
                     seed);
}

template <class T>
void PieceKernels<T>::copy(T* to, const GpuPiece& piece, const T* from, CUstream_st* stream) {
  distal_gpu::launch(copy_kernel<typename OnGpu<T>::Type>, piece.volume(), stream, on_gpu(to), piece, piece.volume(),
                     on_gpu(from));
}

template <class T>
void PieceKernels<T>::scatter(T* to, const GpuPiece& piece, Int begin, Int end, const T* slice, CUstream_st* stream) {
  distal_gpu::launch(scatter_kernel<typename OnGpu<T>::Type>, end - begin, stream, on_gpu(to), piece, begin,
                     end - begin, on_gpu(slice));
}

template <class T>
void PieceKernels<T>::gather(const T* from, const GpuPiece& piece, Int begin, Int end, T* slice, CUstream_st* stream) {
  distal_gpu::launch(gather_kernel<typename OnGpu<T>::Type>, end - begin, stream, on_gpu(from), piece, begin,
                     end - begin, on_gpu(slice));
}

}  // namespace distal_legion
