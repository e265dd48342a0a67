// Runs CUDA C++ on the host, for tests of generated kernels. Every thread of a block is a fiber. Fibers switch where
// threads of a GPU could overtake one another, in an order that a seed chooses: so a missing atomic operation changes
// results. Blocks run one after another.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#define __global__
#define __device__

// A stream is the seed of the order in which threads run.
struct CUstream_st {
  unsigned seed;
};

namespace emulated_cuda {

struct Index {
  unsigned x = 0;
};

// The fibers of a block.
class Block {
 public:
  Block(unsigned threads, unsigned seed) : random_(seed), fibers_(threads) {}

  void run(const std::function<void()>& kernel, Index& thread) {
    kernel_ = &kernel;
    current_block() = this;
    for (Fiber& f : fibers_) start(f);
    for (std::vector<unsigned> waiting = numbers(); !waiting.empty();) {
      size_t next = random_() % waiting.size();
      thread.x = running_ = waiting[next];
      swapcontext(&main_, &fibers_[running_].context);
      if (!fibers_[running_].done) continue;
      waiting[next] = waiting.back();
      waiting.pop_back();
    }
    current_block() = nullptr;
  }

  // Lets other threads run, perhaps.
  void switch_threads() {
    if (random_() % 4 == 0) swapcontext(&fibers_[running_].context, &main_);
  }

  static Block*& current_block() {
    static Block* block = nullptr;
    return block;
  }

 private:
  static constexpr size_t kStack = 64 << 10;

  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack{new char[kStack]};
    bool done = false;
  };

  static void enter() {
    Block& block = *current_block();
    (*block.kernel_)();
    block.fibers_[block.running_].done = true;
  }

  void start(Fiber& f) {
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = kStack;
    f.context.uc_link = &main_;
    makecontext(&f.context, enter, 0);
  }

  std::vector<unsigned> numbers() const {
    std::vector<unsigned> out;
    for (unsigned n = 0; n < fibers_.size(); ++n) out.push_back(n);
    return out;
  }

  std::mt19937 random_;
  std::vector<Fiber> fibers_;
  const std::function<void()>* kernel_ = nullptr;
  unsigned running_ = 0;
  ucontext_t main_;
};

}  // namespace emulated_cuda

static emulated_cuda::Index threadIdx, blockIdx, blockDim, gridDim;

template <class T>
T atomicAdd(T* to, T addend) {
  T old = *to;
  *to = old + addend;
  return old;
}

namespace distal_gpu {

inline void let_others_run() { emulated_cuda::Block::current_block()->switch_threads(); }

template <class... Parameters, class... Arguments>
void launch_blocks(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, CUstream_st* stream,
                   const Arguments&... arguments) {
  blockDim.x = threads;
  gridDim.x = blocks;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    emulated_cuda::Block(threads, stream->seed++).run([&] { kernel(arguments...); }, threadIdx);
  }
}

}  // namespace distal_gpu
