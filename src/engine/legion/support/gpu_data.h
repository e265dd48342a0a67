// The tasks of data_tasks.h on GPUs: data is made in GPU memory, and files are read and written through pinned memory.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <vector>

#include "data_tasks.h"
#include "gpu_devices.h"
#include "gpu_piece.h"

namespace distal_legion {

// Memory of the host that a GPU reads and writes, in two halves: one is in a file's hands while the other is in the
// GPU's. It is made at the first use on each GPU.
class PinnedMemory {
 public:
  static constexpr size_t kHalfBytes = static_cast<size_t>(kSlice<char>);

  PinnedMemory() {
    for (int h = 0; h < 2; ++h) {
      require_done(cudaHostAlloc(&halves_[h], kHalfBytes, cudaHostAllocPortable));
      require_done(cudaEventCreateWithFlags(&done_[h], cudaEventDisableTiming));
    }
  }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  static PinnedMemory& of_task() {
    static std::mutex mutex;
    static std::map<int, PinnedMemory> all;  // never freed: CUDA may end before this process does
    int gpu = 0;
    require_done(cudaGetDevice(&gpu));
    std::lock_guard<std::mutex> lock(mutex);
    return all[gpu];
  }

  // A half, after the GPU has done what was started before `started`.
  template <class T>
  T* half(int h) {
    require_done(cudaEventSynchronize(done_[h]));
    return static_cast<T*>(halves_[h]);
  }
  void started(int h, cudaStream_t stream) {
    require_done(cudaGetLastError());
    require_done(cudaEventRecord(done_[h], stream));
  }

 private:
  void* halves_[2];
  cudaEvent_t done_[2];
};

// A piece on a GPU whose elements are numbered in the given order of dimensions.
inline GpuPiece gpu_piece(const Rectangle& rectangle, const Operand& operand, const std::vector<size_t>& order) {
  GpuPiece out;
  for (size_t d : order) {
    out.extent[out.dimensions] = rectangle.hi[d] - rectangle.lo[d];
    out.stride[out.dimensions++] = operand.strides[d];
  }
  return out;
}

inline std::vector<size_t> row_major(const Rectangle& rectangle) {
  std::vector<size_t> out(rectangle.lo.size());
  std::iota(out.begin(), out.end(), size_t{0});
  return out;
}

// The dimensions by their strides, so that neighbouring threads use neighbouring elements.
inline std::vector<size_t> storage_order(const Rectangle& rectangle, const Operand& operand) {
  std::vector<size_t> out = row_major(rectangle);
  std::stable_sort(out.begin(), out.end(), [&](size_t a, size_t b) { return operand.strides[a] > operand.strides[b]; });
  return out;
}

template <class T>
void make_random_on_gpu(const Operand& to, const Piece& piece, std::uint64_t seed, cudaStream_t stream) {
  std::vector<size_t> order = storage_order(piece.rectangle(), to);
  GpuPiece on_gpu = gpu_piece(piece.rectangle(), to, order);
  on_gpu.first = number_in(piece.shape(), piece.rectangle().lo);
  for (size_t i = 0; i < order.size(); ++i) {
    on_gpu.weight[i] = 1;
    for (size_t d = order[i] + 1; d < order.size(); ++d) on_gpu.weight[i] *= piece.shape()[d];
  }
  PieceKernels<T>::make_random(&element<T>(to, piece.rectangle().lo), on_gpu, seed, stream);
  require_done(cudaGetLastError());
}

template <class T>
void place_on_gpu(const Task* task, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  cudaStream_t stream = stream_of_task();
  const auto& arguments = *static_cast<const PlaceArguments*>(task->args);
  Rectangle rectangle;
  Operand to = operand_of<T>(regions[0], runtime, &rectangle);
  if (rectangle.volume() == 0) return;
  Coordinates shape = arguments.from.extents();
  Piece piece(rectangle, shape);
  if (arguments.from.file[0] == 0) return make_random_on_gpu<T>(to, piece, arguments.seed, stream);
  NpyFile file;
  open_npy<T>(arguments.from.file, shape, file);
  PinnedMemory& memory = PinnedMemory::of_task();
  GpuPiece on_gpu = gpu_piece(rectangle, to, row_major(rectangle));
  int h = 0;
  for (Int first = 0; first < piece.volume(); first += kSlice<T>, h = 1 - h) {
    Int last = min(first + kSlice<T>, piece.volume());
    T* slice = memory.half<T>(h);
    read_slice(file, piece, first, last, slice);
    PieceKernels<T>::scatter(&element<T>(to, rectangle.lo), on_gpu, first, last, slice, stream);
    memory.started(h, stream);
  }
}

template <class T>
void save_on_gpu(const Task* task, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  cudaStream_t stream = stream_of_task();
  const auto& arguments = *static_cast<const FileArguments*>(task->args);
  Rectangle rectangle;
  Operand from = operand_of<T>(regions[0], runtime, &rectangle);
  if (rectangle.volume() == 0) return;
  Piece piece(rectangle, arguments.extents());
  NpyFile file;
  reopen_npy<T>(arguments.file, arguments.extents(), file);
  PinnedMemory& memory = PinnedMemory::of_task();
  GpuPiece on_gpu = gpu_piece(rectangle, from, row_major(rectangle));
  auto last_of = [&](Int first) { return min(first + kSlice<T>, piece.volume()); };
  auto start = [&](int h, Int first) {
    if (first >= piece.volume()) return;
    T* slice = memory.half<T>(h);
    PieceKernels<T>::gather(&element<T>(from, rectangle.lo), on_gpu, first, last_of(first), slice, stream);
    memory.started(h, stream);
  };
  start(0, 0);
  int h = 0;
  for (Int first = 0; first < piece.volume(); first += kSlice<T>, h = 1 - h) {
    start(1 - h, first + kSlice<T>);
    write_slice(file, piece, first, last_of(first), memory.half<T>(h));
  }
  close_npy(file);
}

template <class T>
void copy_on_gpu(const Task*, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  cudaStream_t stream = stream_of_task();
  Rectangle rectangle;
  Operand from = operand_of<T>(regions[0], runtime, &rectangle), to = operand_of<T>(regions[1], runtime);
  if (rectangle.volume() == 0) return;
  std::vector<size_t> order = storage_order(rectangle, to);
  GpuPiece on_gpu = gpu_piece(rectangle, to, order);
  for (size_t i = 0; i < order.size(); ++i) on_gpu.weight[i] = from.strides[order[i]];
  PieceKernels<T>::copy(&element<T>(to, rectangle.lo), on_gpu, &element<T>(from, rectangle.lo), stream);
  require_done(cudaGetLastError());
}

}  // namespace distal_legion
