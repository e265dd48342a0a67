// Leaves on GPUs: their sources start cuBLAS calls and CUDA kernels on the task's stream.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "gpu_data.h"
#include "gpu_devices.h"
#include "program.h"

namespace distal_legion {

// The values that an index of a leaf takes: lo <= x < hi.
struct Range {
  Int lo, hi;
};

// ---- kernels ----

// Starts the work of a leaf. `numbers` are the first value and the count of each index, or the extents and then the
// values of all variables; then the params of the right side. Returns the status of cuBLAS, or kWorkspacesTooLarge.
using GpuLeaf = int(const Int* numbers, void* const* data, const Int* const* stride, const distal_gpu::Device& device);

inline void run_on_gpu(const LeafCall& call, GpuLeaf* leaf, const std::vector<Int>& numbers,
                       const std::vector<Operand>& operands) {
  std::vector<void*> data;
  std::vector<const Int*> strides;
  for (const Operand& o : operands) {
    data.push_back(o.data);
    strides.push_back(o.strides);
  }
  const int status = leaf(numbers.data(), data.data(), strides.data(), *call.device);
  if (status == distal_gpu::kWorkspacesTooLarge) {
    fail(3, "the workspaces of a leaf do not fit into the " + std::to_string(call.device->scratch_bytes >> 20) +
                " MB of GPU memory that are kept for them; precompute less at a time");
  }
  require_done(static_cast<cublasStatus_t>(status));
}

// Runs a leaf over all combinations of its indices.
inline void run_on_gpu(const LeafCall& call, GpuLeaf* leaf, const std::vector<Range>& ranges,
                       const std::vector<Operand>& operands, const std::vector<Int>& params = {}) {
  std::vector<Int> numbers;
  for (const Range& r : ranges) numbers.insert(numbers.end(), {r.lo, std::max(r.hi - r.lo, Int{0})});
  numbers.insert(numbers.end(), params.begin(), params.end());
  run_on_gpu(call, leaf, numbers, operands);
}

// Runs a kernel over loops, given the extent and the value of each variable.
inline void run_on_gpu(const LeafCall& call, GpuLeaf* leaf, const std::vector<Int>& extent,
                       const std::vector<Int>& value, const std::vector<Operand>& operands,
                       const std::vector<Int>& params = {}) {
  std::vector<Int> numbers = extent;
  numbers.insert(numbers.end(), value.begin(), value.end());
  numbers.insert(numbers.end(), params.begin(), params.end());
  run_on_gpu(call, leaf, numbers, operands);
}

// ---- tasks ----

// The times of the leaves of this process since the timer was started.
inline LeafTimes& leaf_times() {
  static LeafTimes times;
  return times;
}

inline void add_host_time(double seconds) {
  static std::mutex mutex;  // every GPU has a thread of its own
  std::lock_guard<std::mutex> lock(mutex);
  LeafTimes& times = leaf_times();
  times.host += seconds;
  times.host_most = std::max(times.host_most, seconds);
  ++times.leaves;
}

inline void start_timing() {
  leaf_times() = {};
  Devices::timed() = true;
}

inline LeafTimes stop_timing() {
  LeafTimes out = leaf_times();
  for (auto& gpu : Devices::of_all()) out.device += gpu.second.take_seconds();
  Devices::timed() = false;
  return out;
}

// The task of a leaf on a GPU.
template <class T, void (*LEAF)(const LeafCall&)>
void gpu_leaf_task(const Task* task, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  const double entered = Devices::timed() ? seconds_now() : 0;
  Devices& devices = Devices::of_task();
  LeafCall call = leaf_call<T>(task, regions, runtime);
  call.device = &devices.begin(std::any_of(task->regions.begin(), task->regions.end(),
                                           [](const RegionRequirement& r) { return r.privilege == LEGION_REDUCE; }));
  LEAF(call);
  devices.end();
  if (Devices::timed()) add_host_time(seconds_now() - entered);
}

template <class T, void (*LEAF)(const LeafCall&)>
void register_gpu_leaf(TaskID id, const char* name) {
  register_on(Processor::TOC_PROC, id, name, [](const TaskVariantRegistrar& r, const char* n) {
    Runtime::preregister_task_variant<gpu_leaf_task<T, LEAF>>(r, n);
  });
}

// An empty task: launching it makes Legion bring its data to the GPU. It also makes the GPU's Devices in advance.
inline void hold_on_gpu(const Task*, const std::vector<PhysicalRegion>&, Context, Runtime*) {
  stream_of_task();
  Devices::of_task();
}

// Defined in gpu_sums.h, which nvcc compiles.
void register_complex_sum(int id, float);
void register_complex_sum(int id, double);

// Once, however many programs have this type.
template <class T>
void register_gpu_sum() {
  if constexpr (!std::is_arithmetic_v<T>) {
    static const bool done = (register_complex_sum(SumOf<T>::kId, typename T::value_type()), true);
    (void)done;
  }
}

// Registers the tasks that move data, for a program that uses GPUs.
template <class T>
void register_gpu_data_tasks() {
  register_data_tasks<T>(register_gpu_sum<T>);
  leaf_timer() = {start_timing, stop_timing};
  register_data_task<place_on_gpu<T>>(Processor::TOC_PROC, kPlace, "place");
  register_data_task<hold_on_gpu>(Processor::TOC_PROC, kHold, "hold");
  register_data_task<save_on_gpu<T>>(Processor::TOC_PROC, kSave, "save");
  register_data_task<copy_on_gpu<T>>(Processor::TOC_PROC, kCopy, "copy");
}

}  // namespace distal_legion
