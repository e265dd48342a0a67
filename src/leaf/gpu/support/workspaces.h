// Workspaces of leaves: every block of threads has its own. Nothing here depends on Legion.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "kernel.h"

namespace distal_gpu {

constexpr Int kSharedBytes = Int{48} << 10;  // that a block of any GPU may have

// Where a workspace lies in the memory of a block, in elements. It has no gaps; its last dimension is contiguous.
template <int DIMENSIONS>
struct Workspace {
  Int begin = 0, volume = 1;
  Int stride[DIMENSIONS > 0 ? DIMENSIONS : 1] = {};

  // Puts it behind the `elements` of other workspaces, and adds its own.
  void append(Int& elements, std::initializer_list<Int> extents) {
    begin = elements;
    for (int d = DIMENSIONS - 1; d >= 0; --d) {
      stride[d] = volume;
      volume *= extents.begin()[d];
    }
    elements += volume;
  }
};

// The memory of each block for its workspaces: shared memory where it fits, else a part of the scratch memory.
class BlockMemory {
 public:
  BlockMemory() = default;
  BlockMemory(Int bytes, const Device& device) : bytes_((bytes + 15) / 16 * 16) {
    if (bytes_ <= kSharedBytes) return;
    scratch_ = static_cast<unsigned char*>(device.scratch);
    most_blocks_ = static_cast<Int>(device.scratch_bytes) / bytes_;
  }

  Int most_blocks() const { return most_blocks_; }
  std::size_t shared_bytes() const { return scratch_ ? 0 : static_cast<std::size_t>(bytes_); }

  template <class T>
  __device__ T* of_block() const {
    return reinterpret_cast<T*>(scratch_ ? scratch_ + blockIdx.x * bytes_ : shared_memory());
  }

 private:
  Int bytes_ = 0, most_blocks_ = Int{1} << 30;
  unsigned char* scratch_ = nullptr;
};

// Sets memory to zero, by all threads of a block.
template <class T>
__device__ void clear(T* memory, Int count) {
  for (Int n = threadIdx.x; n < count; n += blockDim.x) memory[n] = T(0);
}

// The most rows of `columns` elements in which `count` neighbours lie.
inline Int rows_of(Int count, Int columns) {
  if (columns == 0) return 0;
  return (count - 1 + columns - 1) / columns + 1;
}

// Starts a kernel whose blocks share `iterations`, each with memory for `elements`.
template <class T, class Arguments>
int run_blocks(void (*kernel)(Arguments, Int), Arguments& a, Int iterations, Int elements, const Device& device) {
  if (iterations == 0) return 0;
  a.memory = BlockMemory(elements * static_cast<Int>(sizeof(T)), device);
  const Int most = a.memory.most_blocks();
  if (most == 0) return kWorkspacesTooLarge;
  const auto blocks = static_cast<unsigned>(iterations < most ? iterations : most);
  launch_blocks(kernel, blocks, kBlock, a.memory.shared_bytes(), device.stream, a, iterations);
  return 0;
}

}  // namespace distal_gpu
