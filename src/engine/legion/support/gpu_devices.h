// What tasks use of their GPU: its stream, and the Devices of leaves, which are made once for each GPU.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "device.h"
#include "options.h"
#include "realm/cuda/cuda_module.h"

namespace distal_legion {

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

// The Devices of one GPU. Realm gives tasks different streams, so that one leaf's work begins before the last work of
// another has ended. Two Devices are enough for that. One task at a time runs on a GPU.
class Devices {
 public:
  Devices() {
    for (Slot& s : slots_) {
      require_done(cublasCreate(&s.device.blas));
      require_done(cudaMalloc(&s.device.scratch, distal_gpu::kScratchBytes));
      require_done(cudaMalloc(&s.blas_memory, kBlasBytes));
      require_done(cudaEventCreateWithFlags(&s.done, cudaEventDisableTiming));
      s.device.scratch_bytes = distal_gpu::kScratchBytes;
    }
  }
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  // Those of the task's GPU, made at the first call: before the first leaf, when the tensors are placed.
  static Devices& of_task() {
    static std::mutex mutex;
    int gpu = 0;
    require_done(cudaGetDevice(&gpu));
    std::lock_guard<std::mutex> lock(mutex);
    return of_all()[gpu];
  }

  // By GPU. Never freed: CUDA may end before this process does.
  static std::map<int, Devices>& of_all() {
    static auto* all = new std::map<int, Devices>;
    return *all;
  }

  // While leaves are timed, each begins when the one before has ended.
  static bool& timed() {
    static bool value = false;
    return value;
  }

  // The seconds of the leaves that were timed since the last call. Only to be called when no leaf runs.
  double take_seconds() {
    double out = 0;
    for (size_t t = 0; t < timed_leaves_; ++t) {
      float milliseconds = 0;
      require_done(cudaEventElapsedTime(&milliseconds, times_[t].first, times_[t].second));
      out += static_cast<double>(milliseconds) / 1000;
    }
    timed_leaves_ = 0;
    return out;
  }

  // The next Device, on the task's stream. What its last user left to do on another stream is done first. A leaf that
  // is `alone` runs after all leaves before it: processors on one GPU add to the same partial.
  const distal_gpu::Device& begin(bool alone) {
    current_ = 1 - current_;
    Slot& s = slots_[current_];
    cudaStream_t stream = stream_of_task();
    if (s.device.stream != stream) {
      if (s.device.stream) require_done(cudaStreamWaitEvent(stream, s.done, 0));
      require_done(cublasSetStream(s.device.blas, stream));  // also takes cuBLAS's memory away
      require_done(cublasSetWorkspace(s.device.blas, s.blas_memory, kBlasBytes));
      s.device.stream = stream;
    }
    const Slot& other = slots_[1 - current_];
    if ((alone || timed()) && other.device.stream) require_done(cudaStreamWaitEvent(stream, other.done, 0));
    if (timed()) require_done(cudaEventRecord(next_time().first, stream));
    return s.device;
  }

  // To be called after the last launch of the leaf.
  void end() {
    Slot& s = slots_[current_];
    require_done(cudaGetLastError());
    require_done(cudaEventRecord(s.done, s.device.stream));
    if (timed()) require_done(cudaEventRecord(times_[timed_leaves_ - 1].second, s.device.stream));
  }

 private:
  static constexpr size_t kBlasBytes = size_t{32} << 20;  // what cuBLAS recommends for Hopper

  // The events of the next leaf, which are kept for later leaves.
  std::pair<cudaEvent_t, cudaEvent_t>& next_time() {
    if (timed_leaves_ == times_.size()) {
      times_.emplace_back();
      require_done(cudaEventCreate(&times_.back().first));
      require_done(cudaEventCreate(&times_.back().second));
    }
    return times_[timed_leaves_++];
  }

  struct Slot {
    distal_gpu::Device device;
    void* blas_memory = nullptr;
    cudaEvent_t done = nullptr;
  };

  Slot slots_[2];
  int current_ = 0;
  std::vector<std::pair<cudaEvent_t, cudaEvent_t>> times_;
  size_t timed_leaves_ = 0;
};

}  // namespace distal_legion
