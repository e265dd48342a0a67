// The kernels that make and move data in GPU memory, run by the host on an emulated GPU: random data must be that of
// the other engines to the bit.

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "leaf/emulation/cuda.h"
#include "leaf/emulation/memory.h"
// The kernels follow the emulation that they are compiled against.
#include "engine/legion/support/gpu_data_kernels.h"

namespace distal_legion {
namespace {

// A random piece of a tensor, in memory with strides of its own.
struct RandomPiece {
  std::vector<int64_t> shape, lo, extent, stride;
  int64_t size = 1;  // of the memory, in elements

  RandomPiece(std::mt19937& random, int dimensions) {
    for (int d = 0; d < dimensions; ++d) {
      shape.push_back(1 + static_cast<int64_t>(random() % 7));
      lo.push_back(static_cast<int64_t>(random()) % shape.back());
      extent.push_back(1 + static_cast<int64_t>(random()) % (shape.back() - lo.back()));
    }
    stride.assign(extent.size(), 0);
    std::vector<size_t> order(extent.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    for (size_t d : order) {
      stride[d] = size;
      size *= extent[d] + static_cast<int64_t>(random() % 2);
    }
  }

  GpuPiece gpu() const {
    GpuPiece out;
    out.dimensions = static_cast<int>(extent.size());
    int64_t weight = 1;
    for (size_t d = extent.size(); d-- > 0; weight *= shape[d]) {
      out.extent[d] = extent[d];
      out.stride[d] = stride[d];
      out.weight[d] = weight;
      out.first += lo[d] * weight;
    }
    return out;
  }

  // Calls f(offset in memory, place in the whole tensor) in row-major order.
  template <class F>
  void for_each(const F& f, size_t d = 0, int64_t offset = 0, int64_t place = 0) const {
    if (d == extent.size()) return f(offset, place);
    for (int64_t c = 0; c < extent[d]; ++c) for_each(f, d + 1, offset + c * stride[d], place * shape[d] + lo[d] + c);
  }
};

template <class T>
class GpuData : public testing::Test {
 protected:
  std::mt19937 random_{11};
  CUstream_st stream_{5};
};
using Types = testing::Types<float, double, int32_t, int64_t, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuData, Types);

TYPED_TEST(GpuData, RandomDataIsThatOfTheCpu) {
  const TypeParam untouched(77);
  for (int round = 0; round < 40; ++round) {
    RandomPiece piece(this->random_, 1 + round % 6);
    std::vector<TypeParam> memory(static_cast<size_t>(piece.size), untouched), expected = memory;
    uint64_t seed = this->random_();
    {
      const auto on_gpu = emulated_cuda::on_gpu(memory);
      PieceKernels<TypeParam>::make_random(memory.data(), piece.gpu(), seed, &this->stream_);
    }
    piece.for_each([&](int64_t offset, int64_t place) {
      expected[static_cast<size_t>(offset)] = distal::core::random_value<TypeParam>(seed, place);
    });
    EXPECT_EQ(memory, expected);
  }
}

TYPED_TEST(GpuData, SlicesGoAndComeBack) {
  for (int round = 0; round < 40; ++round) {
    RandomPiece piece(this->random_, 1 + round % 6);
    GpuPiece gpu = piece.gpu();
    std::vector<TypeParam> memory(static_cast<size_t>(piece.size)), expected = memory;
    std::vector<TypeParam> all(static_cast<size_t>(gpu.volume())), back = all;
    for (size_t n = 0; n < all.size(); ++n) all[n] = TypeParam(static_cast<float>(n + 1));
    size_t next = 0;
    piece.for_each([&](int64_t offset, int64_t) { expected[static_cast<size_t>(offset)] = all[next++]; });
    const int64_t slice = 1 + static_cast<int64_t>(this->random_() % 50);
    for (int64_t begin = 0; begin < gpu.volume(); begin += slice) {
      const int64_t end = std::min(begin + slice, gpu.volume());
      const auto on_gpu = emulated_cuda::on_gpu(memory, all, back);
      PieceKernels<TypeParam>::scatter(memory.data(), gpu, begin, end, all.data() + begin, &this->stream_);
      PieceKernels<TypeParam>::gather(memory.data(), gpu, begin, end, back.data() + begin, &this->stream_);
    }
    EXPECT_EQ(memory, expected);
    EXPECT_EQ(back, all);
  }
}

TYPED_TEST(GpuData, CopiesBetweenStorageOrders) {
  for (int round = 0; round < 40; ++round) {
    RandomPiece piece(this->random_, 1 + round % 6);
    GpuPiece gpu = piece.gpu();
    std::vector<TypeParam> memory(static_cast<size_t>(piece.size)), expected = memory;
    int64_t places = std::accumulate(piece.shape.begin(), piece.shape.end(), int64_t{1}, std::multiplies<>());
    std::vector<TypeParam> whole(static_cast<size_t>(places));
    for (size_t n = 0; n < whole.size(); ++n) whole[n] = TypeParam(static_cast<float>(n));
    piece.for_each([&](int64_t offset, int64_t place) {
      expected[static_cast<size_t>(offset)] = whole[static_cast<size_t>(place)];
    });
    {
      const auto on_gpu = emulated_cuda::on_gpu(memory, whole);
      PieceKernels<TypeParam>::copy(memory.data(), gpu, whole.data(), &this->stream_);
    }
    EXPECT_EQ(memory, expected);
  }
}

}  // namespace
}  // namespace distal_legion
