// Products of matrices on GPUs: the calls of cuBLAS, carried out by loops, must give what the definition gives.

#include "leaf/emulation/cuda.h"
#include "leaf/emulation/memory.h"
//
#include "leaf/gpu/support/packed_product.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

// The tests use std::complex, because the complex numbers of kernels cannot be compared.
namespace distal_gpu {
template <>
struct BlasType<std::complex<float>> {
  using Type = cuComplex;
};
template <>
struct BlasType<std::complex<double>> {
  using Type = cuDoubleComplex;
};
}  // namespace distal_gpu

namespace distal::core {
namespace {

using distal_gpu::MatrixProduct;
using distal_gpu::ProductAxis;

// output += left * right over some indices, with tensors of any storage order.
struct RandomProduct {
  std::vector<ProductAxis> axes;
  int64_t elements[3] = {1, 1, 1};  // in memory, by tensor

  // Which tensors have the indices: a row, a column, a sum, then perhaps others.
  RandomProduct(std::mt19937& random, bool with_gaps) {
    const int64_t extents[] = {1, 2, 3, 4, 7};
    std::vector<std::vector<bool>> in{{true, true, false}, {true, false, true}, {false, true, true}};
    for (size_t more = random() % 3; more > 0; --more) {
      size_t role = random() % 4;
      in.push_back(role == 3 ? std::vector<bool>{true, true, true} : in[role]);
    }
    for (size_t a = 0; a < in.size(); ++a) {
      axes.emplace_back();
      axes.back().extent = extents[random() % std::size(extents)];
    }
    for (int tensor = 0; tensor < 3; ++tensor) {
      std::vector<size_t> order(axes.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::shuffle(order.begin(), order.end(), random);
      for (size_t a : order) {
        if (!in[a][static_cast<size_t>(tensor)]) continue;
        axes[a].strides[tensor] = elements[tensor];
        elements[tensor] = elements[tensor] * axes[a].extent + (with_gaps ? static_cast<int64_t>(random() % 3) : 0);
      }
    }
  }
};

template <class T>
void add_product(const std::vector<ProductAxis>& axes, size_t depth, T* output, const T* left, const T* right) {
  if (depth == axes.size()) {
    *output += T(2) * *left * *right;
    return;
  }
  const ProductAxis& a = axes[depth];
  for (int64_t x = 0; x < a.extent; ++x) {
    add_product(axes, depth + 1, output + x * a.strides[0], left + x * a.strides[1], right + x * a.strides[2]);
  }
}

template <class T>
void set_outputs_to_zero(const std::vector<ProductAxis>& axes, size_t depth, T* output) {
  if (depth == axes.size()) {
    *output = T(0);
    return;
  }
  for (int64_t x = 0; x < (axes[depth].is_in(0) ? axes[depth].extent : 1); ++x) {
    set_outputs_to_zero(axes, depth + 1, output + x * axes[depth].strides[0]);
  }
}

template <class T>
class GpuProducts : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuProducts, Types);

// What a leaf may use: a stream, which is a seed, a handle of the stand-in, and some memory.
class TestDevice {
 public:
  explicit TestDevice(size_t bytes, unsigned seed = 1) : seed_{seed}, memory_(bytes + 16, '\xff') {
    device.stream = &seed_;
    device.blas = &blas;
    // Ends with the memory, aligned.
    device.scratch = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory_.data()) + 15) / 16 * 16);
    device.scratch_bytes = bytes;
  }
  cublasContext blas;
  distal_gpu::Device device;

 private:
  CUstream_st seed_;
  std::vector<char> memory_;
};

// The tensors and the device's scratch memory, as memory of the GPU.
template <class... T>
emulated_cuda::OnGpu on_gpu(const TestDevice& device, const std::vector<T>&... tensors) {
  emulated_cuda::OnGpu out = emulated_cuda::on_gpu(tensors...);
  out.add(device.device.scratch, device.device.scratch_bytes);
  return out;
}

// Runs random products by `run`, which returns false if it does not take their strides. Returns how many it took.
template <class T, class Run>
int check_random_products(const Run& run) {
  std::mt19937 random(5);
  int fitting = 0;
  for (int round = 0; round < 1500; ++round) {
    RandomProduct product(random, round % 2 == 0);
    std::vector<T> tensors[3];
    for (int t = 0; t < 3; ++t) {
      for (int64_t x = 0; x < product.elements[t]; ++x) tensors[t].push_back(T(static_cast<float>(random() % 5) - 2));
    }
    const bool adds = random() % 2 == 0;
    std::vector<T> want = tensors[0];
    if (!adds) set_outputs_to_zero(product.axes, 0, want.data());
    TestDevice device(random() % 2 == 0 ? 128 : size_t{1} << 16, static_cast<unsigned>(random()));
    T* const data[] = {tensors[0].data(), tensors[1].data(), tensors[2].data()};
    bool fits = false;
    {
      const auto memory = on_gpu(device, tensors[0], tensors[1], tensors[2]);
      fits = run(product.axes, data, device.device, adds);
    }
    if (!fits) continue;
    ++fitting;
    add_product(product.axes, 0, want.data(), tensors[1].data(), tensors[2].data());
    EXPECT_EQ(tensors[0], want) << "round " << round;
    if (tensors[0] != want) break;
  }
  return fitting;
}

TYPED_TEST(GpuProducts, GiveWhatTheDefinitionGives) {
  using T = TypeParam;
  auto run = [](const auto& axes, T* const(&data)[3], const distal_gpu::Device& device, bool adds) {
    const MatrixProduct calls(axes);
    if (calls.fits()) {
      EXPECT_EQ(calls.template run<T>(device, data, 2, adds), CUBLAS_STATUS_SUCCESS);
    }
    return calls.fits();
  };
  EXPECT_GT(check_random_products<T>(run), 500);
}

TYPED_TEST(GpuProducts, GiveItAlsoFromPackedMemory) {
  using T = TypeParam;
  auto run = [](const auto& axes, T* const(&data)[3], const distal_gpu::Device& device, bool adds) {
    const distal_gpu::PackedProduct calls(axes);
    const bool fits = calls.fits(static_cast<int64_t>(device.scratch_bytes / sizeof(T)));
    if (fits) {
      EXPECT_EQ(calls.template run<T>(device, data, 2, adds), CUBLAS_STATUS_SUCCESS);
    }
    return fits;
  };
  EXPECT_GT(check_random_products<T>(run), 500);
}

std::vector<ProductAxis> matrices(int64_t batch) {
  return {{batch, {64, 64, 64}}, {8, {8, 8, 0}}, {8, {1, 0, 1}}, {8, {0, 1, 8}}};
}

TEST(GpuProduct, ABatchIsOneCall) {
  std::vector<double> a(640, 1), b(640, 1), c(640, 1);
  double* const data[] = {a.data(), b.data(), c.data()};
  TestDevice device(0);
  MatrixProduct product(matrices(10));
  ASSERT_TRUE(product.fits());
  {
    const auto memory = on_gpu(device, a, b, c);
    product.run<double>(device.device, data, 1);
  }
  EXPECT_EQ(device.blas.calls, 1);
  EXPECT_EQ(a, std::vector<double>(640, 9));
}

// A product whose outer loops are too many calls is left to a kernel.
TEST(GpuProduct, NotInTooManyCalls) {
  std::vector<ProductAxis> axes{{2000, {0, 100, 100}}, {2000, {2000, 10, 0}}, {2000, {1, 0, 10}}, {2, {0, 1, 1}}};
  axes[0].strides[1] = 1 << 20;
  axes[0].strides[2] = 1 << 21;
  EXPECT_FALSE(MatrixProduct(axes).fits());
  axes[0].extent = 1000;
  EXPECT_TRUE(MatrixProduct(axes).fits());
}

// A batch of several indices is a batch of addresses, or, without memory for these, a call for each of the fewest.
TEST(GpuProduct, ABatchOfSeveralIndicesIsOneCall) {
  const std::vector<ProductAxis> axes{
      {3, {20, 120, 24}}, {5, {4, 24, 72}}, {2, {2, 12, 0}}, {2, {1, 0, 12}}, {12, {0, 1, 1}}};
  std::vector<double> left(360, 2), right(360, 3);
  for (size_t bytes : {size_t{0}, size_t{1} << 10}) {
    std::vector<double> output(60, 1);
    double* const data[] = {output.data(), left.data(), right.data()};
    TestDevice device(bytes);
    MatrixProduct product(axes);
    ASSERT_TRUE(product.fits());
    {
      const auto memory = on_gpu(device, output, left, right);
      product.run<double>(device.device, data, 1);
    }
    EXPECT_EQ(device.blas.calls, bytes == 0 ? 3 : 1);
    EXPECT_EQ(output, std::vector<double>(60, 73));
  }
}

// A(i, j, k, l) = B(i, k, m, n) * C(m, n, j, l): rows and columns alternate in the output.
TEST(GpuProduct, FourIndicesAreOneProductOfMatrices) {
  auto axes = [](int64_t n) {
    return std::vector<ProductAxis>{
        {n, {n * n * n, n * n * n, 0}}, {n, {n * n, 0, n}}, {n, {n, n * n, 0}}, {n, {1, 0, 1}},
        {n, {0, n, n * n * n}},         {n, {0, 1, n * n}}};
  };
  auto calls = [&](int64_t n, size_t scratch_bytes) {
    const auto elements = static_cast<size_t>(n * n * n * n);
    std::vector<double> output(elements, 1), left(elements, 2), right(elements, 3);
    double* const data[] = {output.data(), left.data(), right.data()};
    TestDevice device(scratch_bytes);
    {
      const auto memory = on_gpu(device, output, left, right);
      distal_gpu::PackedProduct(axes(n)).run<double>(device.device, data, 1);
    }
    EXPECT_EQ(output, std::vector<double>(elements, static_cast<double>(1 + 6 * n * n)));
    return device.blas.calls;
  };
  EXPECT_EQ(calls(6, 1296 * 8), 1);
  EXPECT_EQ(calls(6, 648 * 8), 2) << "there is memory for half of the output";
  const distal_gpu::MatrixProduct direct(axes(64));
  const distal_gpu::PackedProduct packed(axes(64));
  EXPECT_LT(packed.cost(8, 8 << 20), direct.cost(8));
}

}  // namespace
}  // namespace distal::core
