// What tasks on GPUs use of the CUDA runtime around the leaf: all is made by the first leaf of a GPU.

#include "engine/legion/support/gpu_devices.h"

#include <gtest/gtest.h>

#include <array>

namespace distal_legion {
namespace {

using Calls = std::map<std::string, int>;

class GpuDevices : public testing::Test {
 protected:
  // The calls of one leaf's task.
  Calls leaf(CUstream_st& stream, bool alone = false) {
    fake_cuda::calls().clear();
    Realm::Cuda::stream_of_task() = &stream;
    Devices& devices = Devices::of_task();
    const distal_gpu::Device& device = devices.begin(alone);
    EXPECT_EQ(device.stream, &stream);
    EXPECT_GT(device.scratch_bytes, 0U);
    devices.end();
    return fake_cuda::calls();
  }

  void TearDown() override { Devices::timed() = false; }

  std::array<CUstream_st, 4> streams_;
};

TEST_F(GpuDevices, AreMadeByTheFirstLeaf) {
  Devices::of_all().clear();
  const Calls first = leaf(streams_[0]);
  EXPECT_EQ(first.at("cublasCreate"), 2);
  EXPECT_EQ(first.at("cudaMalloc"), 4);
  EXPECT_EQ(first.at("cudaEventCreate"), 2);
}

// A leaf says on which stream it runs, and notes its end. It waits on the GPU for what its Device did on another
// stream.
TEST_F(GpuDevices, LaterLeavesMakeNothing) {
  leaf(streams_[0]);
  leaf(streams_[1]);
  const Calls on_another{{"cudaGetDevice", 1},      {"cudaStreamWaitEvent", 1}, {"cublasSetStream", 1},
                         {"cublasSetWorkspace", 1}, {"cudaGetLastError", 1},    {"cudaEventRecord", 1}};
  const Calls on_the_same{{"cudaGetDevice", 1}, {"cudaGetLastError", 1}, {"cudaEventRecord", 1}};
  EXPECT_EQ(leaf(streams_[2]), on_another);
  EXPECT_EQ(leaf(streams_[3]), on_another);
  EXPECT_EQ(leaf(streams_[2]), on_the_same);
  EXPECT_EQ(leaf(streams_[3]), on_the_same);
}

// The leaves before it may be on both Devices.
TEST_F(GpuDevices, ALeafThatAddsToAPartialWaitsForAllBefore) {
  leaf(streams_[0]);
  leaf(streams_[1]);
  EXPECT_EQ(leaf(streams_[0], true).at("cudaStreamWaitEvent"), 1);
  EXPECT_EQ(leaf(streams_[2], true).at("cudaStreamWaitEvent"), 2);
}

TEST_F(GpuDevices, EventsOfTimedLeavesAreKept) {
  Devices::of_all().clear();
  leaf(streams_[0]);
  Devices::timed() = true;
  for (int repetition = 0; repetition < 2; ++repetition) {
    for (int l = 0; l < 3; ++l) {
      const Calls calls = leaf(streams_[static_cast<size_t>(l)]);
      EXPECT_EQ(calls.count("cudaEventCreate"), repetition == 0 ? 1U : 0U);
      EXPECT_EQ(calls.at("cudaEventRecord"), 3);
    }
    EXPECT_DOUBLE_EQ(Devices::of_task().take_seconds(), 0.003);
  }
}

}  // namespace
}  // namespace distal_legion
