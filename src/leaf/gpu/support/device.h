// What a leaf may use of its GPU. Nothing here depends on Legion.
#pragma once

#include <cstddef>

struct CUstream_st;
struct cublasContext;

namespace distal_gpu {

// What the leaf that runs may use until its work on the stream is done. It is made once for each GPU, so that a
// leaf allocates nothing and waits for nothing.
struct Device {
  CUstream_st* stream = nullptr;  // all work of the leaf goes to this stream
  cublasContext* blas = nullptr;  // a cuBLAS handle on this stream
  void* scratch = nullptr;        // memory of the GPU for what is between two kernels; holds anything at first
  std::size_t scratch_bytes = 0;
};

constexpr std::size_t kScratchBytes = std::size_t{192} << 20;  // of every Device

// What a leaf returns if the scratch memory is too small for its workspaces. Other values are statuses of cuBLAS.
constexpr int kWorkspacesTooLarge = -1;

}  // namespace distal_gpu
