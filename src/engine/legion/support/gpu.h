// Leaves on GPUs: matrix products run as cuBLAS calls, all other leaves as CUDA kernels. Both use the task's stream.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <vector>

#include "product.h"
#include "program.h"
#include "realm/cuda/cuda_module.h"

namespace distal_legion {

// The values that an index of a leaf takes: lo <= x < hi.
struct Range {
  Int lo, hi;
};

inline bool is_empty(const std::vector<Range>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [](const Range& r) { return r.lo >= r.hi; });
}

inline void require_done(cudaError_t status) {
  if (status != cudaSuccess) fail(3, std::string("a GPU could not run a leaf: ") + cudaGetErrorString(status));
}

inline void require_done(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    fail(3, std::string("cuBLAS could not run a leaf: ") + cublasGetStatusString(status));
  }
}

// The stream of the running task. The task uses no other stream, so Realm need not synchronize the whole context.
inline cudaStream_t stream_of_task() {
  Realm::Cuda::set_task_ctxsync_required(false);
  return Realm::Cuda::get_task_cuda_stream();
}

// The cuBLAS handle of the task's GPU, made at its first use. One task at a time runs on a GPU.
inline cublasHandle_t blas_of_task() {
  static std::mutex mutex;
  static std::map<int, cublasHandle_t> handles;
  int device = 0;
  require_done(cudaGetDevice(&device));
  std::lock_guard<std::mutex> lock(mutex);
  cublasHandle_t& out = handles[device];
  if (!out) require_done(cublasCreate(&out));
  return out;
}

// ---- kernels ----

// Starts a kernel. `numbers` are the ranges of its indices, or the extents and then the values of all variables.
using GpuLeaf = void(const Int* numbers, void* const* data, const Int* const* stride, CUstream_st* stream);

inline void run_on_gpu(GpuLeaf* leaf, const std::vector<Int>& numbers, const std::vector<Operand>& operands) {
  std::vector<void*> data;
  std::vector<const Int*> strides;
  for (const Operand& o : operands) {
    data.push_back(o.data);
    strides.push_back(o.strides);
  }
  leaf(numbers.data(), data.data(), strides.data(), stream_of_task());
  require_done(cudaGetLastError());
}

// Runs a kernel over all combinations of the indices.
inline void run_on_gpu(GpuLeaf* leaf, const std::vector<Range>& ranges, const std::vector<Operand>& operands) {
  if (is_empty(ranges)) return;
  std::vector<Int> numbers;
  for (const Range& r : ranges) numbers.insert(numbers.end(), {r.lo, r.hi - r.lo});
  run_on_gpu(leaf, numbers, operands);
}

// Runs a kernel over loops, given the extent and the value of each variable.
inline void run_on_gpu(GpuLeaf* leaf, const std::vector<Int>& extent, const std::vector<Int>& value,
                       const std::vector<Operand>& operands) {
  std::vector<Int> numbers = extent;
  numbers.insert(numbers.end(), value.begin(), value.end());
  run_on_gpu(leaf, numbers, operands);
}

// ---- products of matrices ----

// operand 0 += scale * operand 1 * operand 2. `indices` has, by operand, the numbers of its indices among the ranges.
// Returns false, and does nothing, if cuBLAS does not take tensors with these strides.
template <class T>
bool gemm_on_gpu(const std::vector<Range>& ranges, const std::vector<std::vector<int>>& indices,
                 const std::vector<Operand>& operands, double scale) {
  if (is_empty(ranges)) return true;
  std::vector<distal_gpu::ProductAxis> axes(ranges.size());
  T* data[3];
  for (size_t r = 0; r < ranges.size(); ++r) axes[r].extent = ranges[r].hi - ranges[r].lo;
  for (size_t o = 0; o < 3; ++o) {
    data[o] = static_cast<T*>(operands[o].data);
    for (size_t d = 0; d < indices[o].size(); ++d) {
      auto index = static_cast<size_t>(indices[o][d]);
      axes[index].strides[o] += operands[o].strides[d];
      data[o] += ranges[index].lo * operands[o].strides[d];
    }
  }
  distal_gpu::MatrixProduct product(axes);
  if (!product.fits()) return false;
  cublasHandle_t handle = blas_of_task();
  require_done(cublasSetStream(handle, stream_of_task()));
  require_done(product.run<T>(handle, data, scale));
  return true;
}

// ---- registration ----

// An empty task: launching it makes Legion bring its data to the GPU. It also makes the cuBLAS handle in advance.
inline void hold_on_gpu(const Task*, const std::vector<PhysicalRegion>&, Context, Runtime*) {
  stream_of_task();
  blas_of_task();
}

// Defined in gpu_sums.h, which nvcc compiles.
void register_complex_sum(int id, float);
void register_complex_sum(int id, double);

template <class T>
void register_gpu_sum() {
  if constexpr (!std::is_arithmetic_v<T>) register_complex_sum(SumOf<T>::kId, typename T::value_type());
}

// Registers the tasks that move data, for a program that uses GPUs.
template <class T>
void register_gpu_data_tasks() {
  register_data_tasks<T>(register_gpu_sum<T>);
  register_on(Processor::TOC_PROC, kHold, "hold", [](const TaskVariantRegistrar& r, const char* n) {
    Runtime::preregister_task_variant<hold_on_gpu>(r, n);
  });
}

}  // namespace distal_legion
