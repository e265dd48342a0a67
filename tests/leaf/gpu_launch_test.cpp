// What the host does for a leaf on a GPU: the launches and calls of cuBLAS of kernels at the sizes of bench/gpu, which
// are counted and not carried out.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cublas_v2.h>

#include "leaf/emulation/kernels.h"
#include "leaf/gpu/gpu_leaf.h"
#include "leaf/gpu/kernel_source.h"
#include "support/cache_folder.h"
#include "support/run.h"

namespace distal::core {
namespace {

struct Counts {
  int launches = 0, calls_of_cublas = 0;

  bool operator==(const Counts&) const = default;
};
void PrintTo(const Counts& c, std::ostream* out) {
  *out << c.launches << " launches, " << c.calls_of_cublas << " calls of cuBLAS";
}

// A leaf that runs on the whole of its tensors, whose memory does not exist.
class Leaf {
 public:
  explicit Leaf(const std::string& text)
      : folder_(fmt::format("{}distal-gpu-test-{}", testing::TempDir(), geteuid())),
        plan_(test::plan_module(test::parse_text(text), {}, PlanOptions{})),
        kernels_({source()}) {
    const LeafBox box = *leaf_box(*stage().stage);
    for (int v : box.indices) {
      numbers_.insert(numbers_.end(), {0, stage().space.extents[static_cast<size_t>(v)]});
    }
    for (const LeafAccess& a : leaf_of(*stage().stage).accesses) {
      data_.push_back(reinterpret_cast<void*>((data_.size() + 1) << 40));
      add_strides(a);
    }
    for (const auto& s : strides_) stride_.push_back(s.data());
  }

  // What one run does.
  Counts run() {
    stream_.launches = blas_.calls = 0;
    stream_.only_counts = blas_.only_counts = true;
    const distal_gpu::Device device{&stream_, &blas_, reinterpret_cast<void*>(uintptr_t{1} << 30),
                                    distal_gpu::kScratchBytes};
    EXPECT_EQ(kernels_.function(0)(numbers_.data(), data_.data(), stride_.data(), device), 0);
    return {stream_.launches, blas_.calls};
  }

 private:
  const StagePlan& stage() const { return plan_.stages[0]; }

  std::string source() const {
    return gpu_kernel_source(*stage().stage, ElementType::Double, storage_orders(stage()), "leaf_0");
  }

  // Row-major, without gaps.
  void add_strides(const LeafAccess& access) {
    std::vector<int64_t> all(access.indices.size());
    int64_t elements = 1;
    for (size_t d = all.size(); d-- > 0;) {
      all[d] = elements;
      elements *= stage().space.extents[static_cast<size_t>(access.indices[d])];
    }
    strides_.push_back(all);
  }

  test::CacheFolder folder_;
  Plan plan_;
  test::EmulatedKernels kernels_;
  std::vector<int64_t> numbers_;
  std::vector<void*> data_;
  std::vector<std::vector<int64_t>> strides_;
  std::vector<const int64_t*> stride_;
  CUstream_st stream_;
  cublasContext blas_;
};

// Every run of a leaf does the same: nothing is kept for later runs, or made by the first one. The text of a leaf can
// allocate no memory of the GPU, make no handle or stream and ask for no attribute: the emulation has none of these
// functions, and compiles it.
void expect_counts(const std::string& text, const Counts& expected) {
  Leaf leaf(text);
  for (int run = 0; run < 2; ++run) EXPECT_EQ(leaf.run(), expected) << "run " << run;
}

TEST(GpuLaunches, AProductOfMatricesIsOneCall) {
  expect_counts(
      "param n = 16384\ntensor A(n, n)\ntensor B(n, n)\ntensor C(n, n)\n"
      "A(i, j) = B(i, k) * C(k, j)\n",
      {0, 1});
  expect_counts(
      "param n = 1024, r = 64\ntensor A(n, n, r)\ntensor B(n, n, n)\ntensor C(n, r)\n"
      "A(i, j, l) = B(i, j, k) * C(k, l)\n",
      {0, 1});
}

TEST(GpuLaunches, SumsOfManyOutputsAreOneLaunch) {
  expect_counts(
      "param n = 1024\ntensor A(n, n)\ntensor B(n, n, n)\ntensor c(n)\n"
      "A(i, j) = B(i, j, k) * c(k)\n",
      {1, 0});
}

TEST(GpuLaunches, FewLongSumsAreTwoLaunches) {
  expect_counts(
      "param n = 1024\ntensor a\ntensor B(n, n, n)\ntensor C(n, n, n)\n"
      "a = B(i, j, k) * C(i, j, k)\n",
      {2, 0});
}

TEST(GpuLaunches, AContractionIsOneCallAndOneCopy) {
  expect_counts(
      "param n = 64\ntensor A(n, n, n, n)\ntensor B(n, n, n, n)\ntensor C(n, n, n, n)\n"
      "A(i, j, k, l) = B(i, k, o, q) * C(o, q, j, l)\n",
      {1, 1});
}

// The output is set to zero. The product of two factors takes 512 MB, and there are 144 MB for it. A step multiplies it
// with the third, and adds the partial sums.
TEST(GpuLaunches, AProductInStepsIsOneCallAndTwoLaunchesForEach) {
  expect_counts(
      "param n = 1024, r = 64\ntensor A(n, r)\ntensor B(n, n, n)\ntensor C(n, r)\ntensor D(n, r)\n"
      "A(i, l) = B(i, j, k) * C(j, l) * D(k, l)\n",
      {1 + 4 * 2, 4});
}

}  // namespace
}  // namespace distal::core
