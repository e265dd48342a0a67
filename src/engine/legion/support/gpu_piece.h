// A piece of a tensor in GPU memory, and the kernels that make and move its elements.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace distal_legion {

// Elements of a tensor, numbered in the order of the dimensions here, the last one fastest. The element at coordinates
// c, counted from the piece's first element, is `sum of c[d] * stride[d]` elements behind that. Its place, in the whole
// tensor or in another piece, is `first + sum of c[d] * weight[d]`.
struct GpuPiece {
  using Int = std::int64_t;
  static constexpr int kMostDimensions = 6;

  int dimensions = 0;
  Int extent[kMostDimensions] = {};
  Int stride[kMostDimensions] = {};
  Int weight[kMostDimensions] = {};
  Int first = 0;

  Int volume() const {
    Int out = 1;
    for (int d = 0; d < dimensions; ++d) out *= extent[d];
    return out;
  }
};

// Starts kernels on a stream. Defined for each element type of the programs in gpu_data.cu.
template <class T>
struct PieceKernels {
  using Int = std::int64_t;
  // Makes the elements of a tensor's random data, by their places.
  static void make_random(T* to, const GpuPiece& piece, std::uint64_t seed, CUstream_st* stream);
  // Copies elements from their places in `from`.
  static void copy(T* to, const GpuPiece& piece, const T* from, CUstream_st* stream);
  // Copies the elements with the numbers begin <= n < end between a piece and `slice`, where they lie side by side.
  static void scatter(T* to, const GpuPiece& piece, Int begin, Int end, const T* slice, CUstream_st* stream);
  static void gather(const T* from, const GpuPiece& piece, Int begin, Int end, T* slice, CUstream_st* stream);
};

}  // namespace distal_legion
