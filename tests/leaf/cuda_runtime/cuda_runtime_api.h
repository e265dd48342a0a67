// Stands for the CUDA runtime in tests of what tasks use of their GPU: it counts its calls.
#pragma once

#include <cublas_v2.h>

#include <cstddef>
#include <deque>
#include <map>
#include <string>

struct CUevent_st {};
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
enum cudaError_t { cudaSuccess = 0 };
constexpr unsigned cudaEventDisableTiming = 2;

namespace fake_cuda {

// The calls of each function since this was last cleared.
inline std::map<std::string, int>& calls() {
  static std::map<std::string, int> all;
  return all;
}

// Everything that is made: memory, events and handles. What it points to is never used.
inline void* make(const char* function) {
  static char made[1 << 10];
  static std::size_t count = 0;
  ++calls()[function];
  return &made[count++];
}

inline cudaError_t count(const char* function) {
  ++calls()[function];
  return cudaSuccess;
}

}  // namespace fake_cuda

inline cudaError_t cudaMalloc(void** memory, std::size_t) {
  *memory = fake_cuda::make("cudaMalloc");
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = static_cast<cudaEvent_t>(fake_cuda::make("cudaEventCreate"));
  return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return fake_cuda::count("cudaEventElapsedTime");
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return fake_cuda::count("cudaEventRecord"); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return fake_cuda::count("cudaStreamWaitEvent");
}
inline cudaError_t cudaGetDevice(int* gpu) {
  *gpu = 0;
  return fake_cuda::count("cudaGetDevice");
}
inline cudaError_t cudaGetLastError() { return fake_cuda::count("cudaGetLastError"); }
inline const char* cudaGetErrorString(cudaError_t) { return ""; }

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  static std::deque<cublasContext> all;
  *handle = &all.emplace_back();
  fake_cuda::count("cublasCreate");
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) {
  fake_cuda::count("cublasSetStream");
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) {
  fake_cuda::count("cublasSetWorkspace");
  return CUBLAS_STATUS_SUCCESS;
}
inline const char* cublasGetStatusString(cublasStatus_t) { return ""; }
