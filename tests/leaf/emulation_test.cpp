// The emulated GPU of tests/leaf/emulation finds what goes wrong, or has no defined result, on a GPU.

#include "leaf/emulation/cuda.h"
//
#include "leaf/gpu/support/kernel.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include "leaf/emulation/memory.h"

namespace distal::core {
namespace {

using emulated_cuda::on_gpu;

// What is wrong with a launch; empty if nothing is.
template <class... Parameters, class... Arguments>
std::string error_of(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, const Arguments&... arguments) {
  CUstream_st stream{7};
  try {
    distal_gpu::launch_blocks(kernel, blocks, threads, 16, &stream, arguments...);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

// ---- what waits ----

__global__ void half_waits() {
  if (threadIdx.x < 3) __syncthreads();
  __shfl_xor_sync(0xff, 1, 1);
}
__global__ void wait_apart() {
  if (threadIdx.x < 3) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}
__global__ void shuffle_without(unsigned mask) { __shfl_xor_sync(mask, 1, 1); }
__global__ void ends_before_shuffle() {
  if (threadIdx.x < 7) __shfl_xor_sync(0xff, 1, 1);
}
__global__ void shuffles(unsigned* out) { out[threadIdx.x] = __shfl_xor_sync(0xff, threadIdx.x * 10, 2); }

TEST(Emulation, FindsWhatWouldHang) {
  EXPECT_EQ(error_of(half_waits, 1, 8), "some threads wait for others that never come");
  EXPECT_EQ(error_of(wait_apart, 1, 8), "threads of a block wait at different barriers");
  EXPECT_EQ(error_of(shuffle_without, 1, 7, 0x7fU), "a thread reads from one that is not in the mask");
  EXPECT_EQ(error_of(shuffle_without, 1, 8, 0x0fU), "a thread shuffles with a mask that it is not in");
  EXPECT_EQ(error_of(ends_before_shuffle, 1, 8), "a thread of a shuffle's mask has ended");
}

TEST(Emulation, Shuffles) {
  std::vector<unsigned> out(8);
  const auto memory = on_gpu(out);
  EXPECT_EQ(error_of(shuffles, 1, 8, out.data()), "");
  EXPECT_EQ(out, (std::vector<unsigned>{20, 30, 0, 10, 60, 70, 40, 50}));
}

TEST(Emulation, RefusesWhatAGpuDoesNotStart) {
  EXPECT_EQ(error_of(shuffle_without, 0, 8, 0xffU), "a launch has no threads");
  EXPECT_EQ(error_of(shuffle_without, 1, 1025, 0xffU), "a block has too many threads");
}

// ---- who uses memory ----

__global__ void add_plainly(int* sum) {
  if (threadIdx.x == 0) *sum += 1;
}
__global__ void add_atomically(int* sum) { atomicAdd(sum, 1); }
__global__ void add_and_read(int* sum, int* seen) {
  atomicAdd(sum, 1);
  __syncthreads();
  if (threadIdx.x == 0) seen[blockIdx.x] = *sum;
}

// The sums of blocks, added up by the block that ends last: without a fence.
__global__ void last_block_adds(int* partials, unsigned* ended, int* sum) {
  if (threadIdx.x > 0) return;
  partials[blockIdx.x] = 3;
  if (atomicAdd(ended, 1U) + 1 < gridDim.x) return;
  for (unsigned b = 0; b < gridDim.x; ++b) *sum += partials[b];
}

// A sum of the threads of each block, in shared memory.
template <bool WAITS>
__global__ void add_in_block(int* sums) {
  int* shared = reinterpret_cast<int*>(distal_gpu::shared_memory());
  shared[threadIdx.x] = 2;
  if (WAITS) __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = shared[0] + shared[1] + shared[2];
}

__global__ void read_at(const int* from, int place, int* to) { *to = from[place]; }

struct alignas(16) FourInts {
  int element[4];
};
__global__ void read_four(const int* from, FourInts* to) { *to = *reinterpret_cast<const FourInts*>(from); }

__global__ void note_order(unsigned* count, unsigned* order) { order[atomicAdd(count, 1U)] = blockIdx.x; }

TEST(Emulation, BlocksRunInRandomOrders) {
  std::set<std::vector<unsigned>> seen;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<unsigned> count(1), order(4);
    CUstream_st stream{seed};
    {
      const auto memory = on_gpu(count, order);
      distal_gpu::launch_blocks(note_order, 4, 1, 0, &stream, count.data(), order.data());
    }
    EXPECT_EQ(std::set<unsigned>(order.begin(), order.end()).size(), 4U);
    seen.insert(order);
  }
  EXPECT_GT(seen.size(), 5U);
}

#ifdef __SANITIZE_THREAD__  // this file is instrumented

// An error without the numbers of threads and blocks, which depend on their order.
std::string without_numbers(std::string error) {
  std::replace_if(
      error.begin(), error.end(), [](char c) { return c >= '0' && c <= '9'; }, '#');
  return error;
}

TEST(Emulation, BlocksMayOnlyAddAtomicallyToTheSameElement) {
  std::vector<int> sum(1), more(3);
  std::vector<unsigned> ended(1);
  const auto memory = on_gpu(sum, more, ended);
  EXPECT_EQ(error_of(add_atomically, 3, 8, sum.data()), "");
  EXPECT_EQ(error_of(add_plainly, 1, 8, sum.data()), "");
  EXPECT_EQ(without_numbers(error_of(add_plainly, 2, 8, sum.data())),
            "thread # of block # reads an element that block # writes, and nothing orders the two");
  EXPECT_EQ(without_numbers(error_of(add_and_read, 3, 8, sum.data(), more.data())),
            "thread # of block # adds to an element that block # reads, and nothing orders the two");
  EXPECT_EQ(without_numbers(error_of(last_block_adds, 3, 8, more.data(), ended.data(), sum.data())),
            "thread # of block # reads an element that block # writes, and nothing orders the two");
}

TEST(Emulation, ThreadsOfABlockMustWaitForOneAnother) {
  std::vector<int> sums(3);
  {
    const auto memory = on_gpu(sums);
    EXPECT_EQ(error_of(add_in_block<true>, 3, 4, sums.data()), "");
    const std::string error = without_numbers(error_of(add_in_block<false>, 3, 4, sums.data()));
    const std::string begin = "thread # of block # ", end = ", and nothing orders the two";
    EXPECT_TRUE(error == begin + "reads an element that thread # writes" + end ||
                error == begin + "writes an element that thread # reads" + end)
        << error;
  }
  EXPECT_EQ(sums, std::vector<int>(3, 6));
}

TEST(Emulation, KernelsMayOnlyUseMemoryOfTheGpu) {
  std::vector<int> from(8), to(4), of_host(1);
  const auto memory = on_gpu(from, to);
  EXPECT_EQ(error_of(read_at, 1, 1, from.data(), 7, to.data()), "");
  EXPECT_EQ(error_of(read_at, 1, 1, from.data(), 8, to.data()), "a thread uses memory that is not the GPU's");
  EXPECT_EQ(error_of(read_at, 1, 1, from.data(), -1, to.data()), "a thread uses memory that is not the GPU's");
  EXPECT_EQ(error_of(read_at, 1, 1, of_host.data(), 0, to.data()), "a thread uses memory that is not the GPU's");
}

TEST(Emulation, VectorsMustBeAligned) {
  alignas(16) int from[8] = {};
  FourInts to;
  emulated_cuda::OnGpu memory;
  memory.add(from, sizeof(from));
  memory.add(&to, sizeof(to));
  EXPECT_EQ(error_of(read_four, 1, 1, from + 4, &to), "");
  EXPECT_EQ(error_of(read_four, 1, 1, from + 2, &to),
            "a thread uses an element, or several at once, that is not aligned");
}

TEST(Emulation, TheHostMayNotUseMemoryOfTheGpu) {
  static int of_gpu = 0;
  emulated_cuda::OnGpu memory;
  memory.add(&of_gpu, sizeof(of_gpu));
  EXPECT_NONFATAL_FAILURE(of_gpu = 3, "the host uses memory of the GPU");
}

#endif

}  // namespace
}  // namespace distal::core
