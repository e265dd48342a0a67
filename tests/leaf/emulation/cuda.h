// What CUDA C++ uses of a GPU, for the host's compiler. launch.cpp runs its kernels, and memory.cpp checks what they
// read and write. There are no fences here: blocks of a launch may only add atomically to what other blocks use.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __syncthreads() emulated_cuda::wait_for_block(__LINE__)
#define threadIdx emulated_cuda::place.thread
#define blockIdx emulated_cuda::place.block
#define blockDim emulated_cuda::place.threads
#define gridDim emulated_cuda::place.blocks

// A stream. What it is given is done at once.
struct CUstream_st {
  unsigned seed = 0;  // of the orders in which blocks and threads run
  int launches = 0;
  bool only_counts = false;  // kernels do not run
};

namespace emulated_cuda {

struct Index {
  unsigned x = 0;
};

// Where a thread is in its launch.
struct Place {
  Index thread, block, threads, blocks;
};
extern Place place;

// A launch. `run_thread(call)` runs the kernel in a thread; the call may be read by kernels.
struct Launch {
  unsigned blocks, threads;
  std::size_t shared_bytes;
  void (*run_thread)(const void* call);
  const void* call;
  std::size_t call_bytes;
};

// Runs all blocks. Throws a std::runtime_error that says what would hang, or has no defined result, on a GPU.
void run(const Launch& launch, CUstream_st& stream);

void wait_for_block(int line);
unsigned shuffle(unsigned mask, unsigned value, unsigned source);
unsigned char* shared_memory();
void add_to(const void* at, std::size_t bytes);  // a thread adds to these bytes atomically

// While it lives, the host's code is that of a library, which uses the memory of the GPU.
class LibraryCall {
 public:
  LibraryCall();
  ~LibraryCall();
};

constexpr unsigned kWarp = 32;

// A kernel and its arguments, copied when it is launched.
template <class... Parameters>
struct Call {
  void (*kernel)(Parameters...);
  std::tuple<Parameters...> arguments;

  static_assert(sizeof(arguments) <= 4096, "a kernel's arguments are too large for CUDA");
  static void run(const void* call) {
    const Call& c = *static_cast<const Call*>(call);
    std::apply(c.kernel, c.arguments);
  }
};

}  // namespace emulated_cuda

// Not instrumented: what it reads and writes is said in one piece.
template <class T>
__attribute__((noinline, no_sanitize("thread"))) T atomicAdd(T* to, T addend) {
  emulated_cuda::add_to(to, sizeof(T));
  T old = *to;
  *to = old + addend;
  return old;
}

inline unsigned __shfl_xor_sync(unsigned mask, unsigned value, int lanes) {
  return emulated_cuda::shuffle(mask, value, (threadIdx.x % emulated_cuda::kWarp) ^ static_cast<unsigned>(lanes));
}

namespace distal_gpu {

inline unsigned char* shared_memory() { return emulated_cuda::shared_memory(); }

template <class... Parameters, class... Arguments>
void launch_blocks(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, std::size_t shared_bytes,
                   CUstream_st* stream, const Arguments&... arguments) {
  using Call = emulated_cuda::Call<Parameters...>;
  const Call call{kernel, {arguments...}};
  emulated_cuda::run({blocks, threads, shared_bytes, Call::run, &call, sizeof(call)}, *stream);
}

}  // namespace distal_gpu
