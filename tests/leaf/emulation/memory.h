// The memory of an emulated GPU. It knows which threads of a launch read and wrote its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace emulated_cuda {

enum class Use { Read, Write, Add };  // Add: atomically

struct Thread {
  unsigned block, number;  // of the launch, of the block
  unsigned interval;       // the barriers that the block has passed
};

// The threads that used an element in one way, as far as it matters: those since the block's last barrier.
class Users {
 public:
  void add(const Thread& thread);
  // Whether another thread is among them that no barrier separates from this one.
  bool race_with(const Thread& thread) const;
  std::string text(const Thread& without) const;

 private:
  static constexpr unsigned kNobody = 0, kSeveral = ~0U;  // other numbers are one too large

  unsigned block_ = kNobody, thread_ = kNobody, interval_ = 0;
};

// While it lives, this is memory of the GPU: kernels and cuBLAS may use it, the host may not.
class GpuMemory {
 public:
  GpuMemory(const void* data, std::size_t bytes);
  ~GpuMemory();
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  // The memory that has the first of these bytes; null if there is none.
  static GpuMemory* with(std::uintptr_t at);
  // Begins a launch. All threads of the launches before have ended.
  static void begin_launch();

  bool contains(std::uintptr_t at, std::size_t bytes) const { return at >= begin_ && at + bytes <= end_; }
  // A thread of the launch uses these bytes. Returns what is wrong with that; empty if nothing is.
  std::string use(Use use, std::uintptr_t at, std::size_t bytes, const Thread& thread);

 private:
  static constexpr std::size_t kElement = 4;  // no type of elements is smaller

  struct Element {
    unsigned launch;
    Users users[3];  // by use
  };
  struct Free {
    void operator()(void* memory) const;
  };

  static std::vector<GpuMemory*>& all();
  Element& element(std::uintptr_t at);

  std::uintptr_t begin_, end_;
  std::unique_ptr<Element[], Free> elements_;  // pages that no launch uses are never touched
};

// While it lives, all that was added is memory of the GPU.
class OnGpu {
 public:
  void add(const void* data, std::size_t bytes) { all_.emplace_back(data, bytes); }

 private:
  std::deque<GpuMemory> all_;
};
template <class... T>
OnGpu on_gpu(const std::vector<T>&... tensors) {
  OnGpu out;
  (out.add(tensors.data(), tensors.size() * sizeof(T)), ...);
  return out;
}

// Code that is instrumented, as kernels.cpp says, uses memory: a thread of a kernel, or the host.
void use(Use use, const void* at, std::size_t bytes);
void use_unaligned();

}  // namespace emulated_cuda
