// Stands for Realm's CUDA module: a test says which stream the running task has.
#pragma once

#include <cuda_runtime_api.h>

namespace Realm::Cuda {

inline cudaStream_t& stream_of_task() {
  static cudaStream_t stream = nullptr;
  return stream;
}
inline cudaStream_t get_task_cuda_stream() { return stream_of_task(); }
inline void set_task_ctxsync_required(bool) {}

}  // namespace Realm::Cuda
