// Runs CUDA C++ on the host, for tests of generated kernels. Every thread of a block is a fiber. Fibers switch where
// threads of a GPU wait for one another, or could overtake one another, in an order that a seed chooses: so a missing
// barrier or a missing atomic operation changes results. What would hang or is undefined on a GPU throws: barriers and
// shuffles that not all of their threads reach. Blocks run one after another.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#define __global__
#define __device__
#define __host__
#define __shared__ static  // blocks run one after another
#define __launch_bounds__(...)
#define __syncthreads() emulated_cuda::Block::current()->wait_for_block(__LINE__)

// A stream is the seed of the order in which threads run.
struct CUstream_st {
  unsigned seed;
};

namespace emulated_cuda {

struct Index {
  unsigned x = 0;
};

// The memory that a launch gives each block. It holds garbage at first. Bytes around it show whether a kernel writes
// past its ends.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes) : all_(bytes + 2 * kAround, kGarbage) { of_block() = all_.data() + kAround; }

  void check() const {
    for (size_t b = 0; b < kAround; ++b) {
      if (all_[b] != kGarbage || all_[all_.size() - 1 - b] != kGarbage) {
        throw std::runtime_error("a block writes past its shared memory");
      }
    }
  }

  static unsigned char*& of_block() {
    static unsigned char* memory = nullptr;
    return memory;
  }

 private:
  static constexpr size_t kAround = 64;
  static constexpr unsigned char kGarbage = 0xff;

  std::vector<unsigned char> all_;
};

// Switches between stacks. Tells the address sanitizer about it.
class Stack {
 public:
  static constexpr size_t kBytes = 128 << 10;

  Stack() : memory_(new char[kBytes]) {}

  void begin(void (*enter)(), ucontext_t* then) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = memory_.get();
    context_.uc_stack.ss_size = kBytes;
    context_.uc_link = then;
    makecontext(&context_, enter, 0);
  }
  // Called by the scheduler.
  void resume(ucontext_t& scheduler) {
#ifdef __SANITIZE_ADDRESS__
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, memory_.get(), kBytes);
    swapcontext(&scheduler, &context_);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
    swapcontext(&scheduler, &context_);
#endif
  }
  // Called by the fiber: first when it begins, and to let the scheduler go on.
  void begun() {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_, &scheduler_bytes_);
#endif
  }
  void leave(ucontext_t& scheduler) {
#ifdef __SANITIZE_ADDRESS__
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, scheduler_, scheduler_bytes_);
    swapcontext(&context_, &scheduler);
    __sanitizer_finish_switch_fiber(fake, &scheduler_, &scheduler_bytes_);
#else
    swapcontext(&context_, &scheduler);
#endif
  }
  void end() {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(nullptr, scheduler_, scheduler_bytes_);
#endif
  }

 private:
  std::unique_ptr<char[]> memory_;
  ucontext_t context_;
  const void* scheduler_ = nullptr;
  size_t scheduler_bytes_ = 0;
};

// The fibers of a block.
class Block {
 public:
  static constexpr unsigned kWarp = 32;

  Block(unsigned threads, unsigned seed) : random_(seed), fibers_(threads) {
    while (stacks().size() < threads) stacks().emplace_back();
  }

  void run(const std::function<void()>& kernel, Index& thread) {
    kernel_ = &kernel;
    current() = this;
    for (unsigned f = 0; f < fibers_.size(); ++f) stacks()[f].begin(enter, &scheduler_);
    for (std::vector<unsigned> ready = those(Fiber::Ready); !ready.empty(); ready = those(Fiber::Ready)) {
      choose_warp(ready);
      for (size_t left = ready.size(); left > 0; --left) {
        std::swap(ready[random_() % left], ready[left - 1]);
        thread.x = running_ = ready[left - 1];
        stacks()[running_].resume(scheduler_);
      }
    }
    current() = nullptr;
    if (!error_.empty()) throw std::runtime_error(error_);
    if (those(Fiber::Done).size() < fibers_.size()) {
      throw std::runtime_error("some threads wait for others that never come");
    }
  }

  // __syncthreads() of a line.
  void wait_for_block(int line) {
    Fiber& f = fibers_[running_];
    f.line = line;
    f.state = Fiber::AtBarrier;
    release_block();
    wait();
  }

  // A shuffle: every thread of the mask gives a value and gets that of another thread.
  unsigned shuffle(unsigned mask, unsigned value, unsigned source) {
    Fiber& f = fibers_[running_];
    if ((mask >> (running_ % kWarp) & 1) == 0) fail("a thread shuffles with a mask that it is not in");
    if ((mask >> source & 1) == 0) fail("a thread reads from one that is not in the mask");
    f.mask = mask;
    f.value = value;
    f.source = source;
    f.state = Fiber::AtShuffle;
    release_warp(running_ / kWarp * kWarp);
    wait();
    return f.value;
  }

  static Block*& current() {
    static Block* block = nullptr;
    return block;
  }

 private:
  struct Fiber {
    enum State { Ready, AtBarrier, AtShuffle, Done } state = Ready;
    int line = 0;
    unsigned mask = 0, value = 0, source = 0;
  };

  static std::vector<Stack>& stacks() {
    static std::vector<Stack> all;
    return all;
  }

  static void enter() {
    Block& block = *current();
    Stack& stack = stacks()[block.running_];
    stack.begun();
    (*block.kernel_)();
    block.fibers_[block.running_].state = Fiber::Done;
    block.release_block();
    stack.end();
  }

  std::vector<unsigned> those(Fiber::State state) const {
    std::vector<unsigned> out;
    for (unsigned f = 0; f < fibers_.size(); ++f) {
      if (fibers_[f].state == state) out.push_back(f);
    }
    return out;
  }

  // Half of the time one warp runs alone as far as it can.
  void choose_warp(std::vector<unsigned>& ready) {
    if (random_() % 2 == 0) return;
    const unsigned warp = ready[random_() % ready.size()] / kWarp;
    std::vector<unsigned> chosen;
    for (unsigned f : ready) {
      if (f / kWarp == warp) chosen.push_back(f);
    }
    ready = chosen;
  }

  void fail(const char* what) {
    if (error_.empty()) error_ = what;
  }

  // A thread that waits for good, after an error, is never resumed.
  void wait() {
    do {
      stacks()[running_].leave(scheduler_);
    } while (fibers_[running_].state != Fiber::Ready || !error_.empty());
  }

  void release_block() {
    int line = 0;
    for (const Fiber& f : fibers_) {
      if (f.state == Fiber::Done) continue;
      if (f.state != Fiber::AtBarrier) return;
      if (line != 0 && f.line != line) fail("threads of a block wait at different barriers");
      line = f.line;
    }
    for (Fiber& f : fibers_) {
      if (f.state == Fiber::AtBarrier && error_.empty()) f.state = Fiber::Ready;
    }
  }

  void release_warp(unsigned first) {
    const unsigned mask = fibers_[running_].mask;
    unsigned given[kWarp] = {};
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const unsigned f = first + lane;
      if (f >= fibers_.size() || fibers_[f].state == Fiber::Done) return fail("a thread of a shuffle's mask has ended");
      if (fibers_[f].state != Fiber::AtShuffle) return;
      if (fibers_[f].mask != mask) return fail("threads shuffle with different masks");
      given[lane] = fibers_[f].value;
    }
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      Fiber& f = fibers_[first + lane];
      f.value = given[f.source];
      if (error_.empty()) f.state = Fiber::Ready;
    }
  }

  std::mt19937 random_;
  std::vector<Fiber> fibers_;
  const std::function<void()>* kernel_ = nullptr;
  unsigned running_ = 0;
  ucontext_t scheduler_;
  std::string error_;
};

}  // namespace emulated_cuda

static emulated_cuda::Index threadIdx, blockIdx, blockDim, gridDim;

template <class T>
T atomicAdd(T* to, T addend) {
  T old = *to;
  *to = old + addend;
  return old;
}

inline unsigned __shfl_xor_sync(unsigned mask, unsigned value, int lanes) {
  return emulated_cuda::Block::current()->shuffle(mask, value, (threadIdx.x % emulated_cuda::Block::kWarp) ^ lanes);
}

namespace distal_gpu {

inline unsigned char* shared_memory() { return emulated_cuda::SharedMemory::of_block(); }

template <class... Parameters, class... Arguments>
void launch_blocks(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, std::size_t shared_bytes,
                   CUstream_st* stream, const Arguments&... arguments) {
  blockDim.x = threads;
  gridDim.x = blocks;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    emulated_cuda::SharedMemory shared(shared_bytes);
    emulated_cuda::Block(threads, stream->seed++).run([&] { kernel(arguments...); }, threadIdx);
    shared.check();
  }
}

}  // namespace distal_gpu
