// Products of matrices on GPUs: the calls of cuBLAS, carried out by loops, must give what the definition gives.

#include "leaf/emulated_cuda.h"
//
#include "leaf/gpu/support/product.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

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
class GpuProducts : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuProducts, Types);

TYPED_TEST(GpuProducts, GiveWhatTheDefinitionGives) {
  using T = TypeParam;
  std::mt19937 random(5);
  int fitting = 0;
  cublasContext handle;
  for (int round = 0; round < 2000; ++round) {
    RandomProduct product(random, round % 2 == 0);
    std::vector<T> tensors[3];
    for (int t = 0; t < 3; ++t) {
      for (int64_t x = 0; x < product.elements[t]; ++x) tensors[t].push_back(T(static_cast<float>(random() % 5) - 2));
    }
    std::vector<T> want = tensors[0];
    MatrixProduct calls(product.axes);
    if (!calls.fits()) continue;
    ++fitting;
    add_product(product.axes, 0, want.data(), tensors[1].data(), tensors[2].data());
    T* const data[] = {tensors[0].data(), tensors[1].data(), tensors[2].data()};
    ASSERT_EQ(calls.run<T>(&handle, data, 2), CUBLAS_STATUS_SUCCESS) << round;
    ASSERT_EQ(tensors[0], want) << round;
  }
  EXPECT_GT(fitting, 700);
}

std::vector<ProductAxis> matrices(int64_t batch) {
  return {{batch, {64, 64, 64}}, {8, {8, 8, 0}}, {8, {1, 0, 1}}, {8, {0, 1, 8}}};
}

TEST(GpuProduct, ABatchIsOneCall) {
  std::vector<double> a(640, 1), b(640, 1), c(640, 1);
  double* const data[] = {a.data(), b.data(), c.data()};
  cublasContext handle;
  MatrixProduct product(matrices(10));
  ASSERT_TRUE(product.fits());
  product.run<double>(&handle, data, 1);
  EXPECT_EQ(handle.calls, 1);
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

}  // namespace
}  // namespace distal::core
