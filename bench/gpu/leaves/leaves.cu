// Times the leaves of leaves.distal alone, each beside the same work done by cuBLAS or by a copy, in alternating pairs.
// Usage: leaves [PAIRS [DIVISOR]]; sizes are divided by DIVISOR. Every leaf's result is checked at some elements.

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "distal/device.h"

using Int = std::int64_t;
using distal_gpu::Device;
using Function = int(const Int* numbers, void* const* data, const Int* const* stride, const Device& device);
#define DECLARE(N) extern "C" Function leaves_gpu_##N
DECLARE(1);
DECLARE(2);
DECLARE(3);
DECLARE(4);
DECLARE(5);
DECLARE(6);
DECLARE(7);
DECLARE(8);
DECLARE(9);

namespace {

template <class Status>
void require(Status status) {
  if (static_cast<int>(status) == 0) return;
  std::fprintf(stderr, "error: CUDA or cuBLAS failed with status %d\n", static_cast<int>(status));
  std::exit(3);
}

// Small whole numbers, so that sums are exact.
__host__ __device__ double element(Int i) {
  std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15ULL;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ULL;
  return static_cast<double>((x >> 40) % 7) - 3;
}
__global__ void fill(double* data, Int n) {
  for (Int i = blockIdx.x * Int{blockDim.x} + threadIdx.x; i < n; i += Int{gridDim.x} * blockDim.x)
    data[i] = element(i);
}

// An operand: one letter for each dimension. It is the beginning of a pool, whose element i is element(i).
struct Operand {
  std::string indices;
  int pool;
};
struct Kernel {
  const char* name;
  Function* leaf;
  std::vector<Operand> operands;  // 0 is the output
  double work;                    // flops, or bytes if it streams
  bool streams;
  std::function<void()> peer;
  const char* peer_name;
  bool product = true;  // of the operands of the right side; else the first two are multiplied and the third is added
  bool adds = true;
};

class Bench {
 public:
  Bench(int pairs, Int divisor)
      : pairs_(pairs),
        n_(1024 / divisor),
        m_(32768 / divisor),
        c_(std::max<Int>(64 / divisor, 2)),
        p_(16384 / divisor) {
    require(cudaStreamCreate(&stream_));
    require(cublasCreate(&blas_));
    require(cublasSetStream(blas_, stream_));
    require(cudaMalloc(&blas_memory_, 32 << 20));
    require(cublasSetWorkspace(blas_, blas_memory_, 32 << 20));
    require(cudaEventCreate(&begin_));
    require(cudaEventCreate(&end_));
    device_.stream = stream_;
    device_.blas = blas_;
    device_.scratch_bytes = distal_gpu::kScratchBytes;
    require(cudaMalloc(&device_.scratch, device_.scratch_bytes));
    sizes_ = {std::max({n_ * n_ * n_, m_ * m_, p_ * p_}), std::max(n_ * n_ * n_, p_ * p_), p_ * p_,
              std::max(p_ * p_, n_ * n_ * 64), n_ * n_ * 64};
    for (Int size : sizes_) {
      pools_.emplace_back();
      require(cudaMalloc(reinterpret_cast<void**>(&pools_.back()), static_cast<size_t>(size) * 8));
      fill<<<4096, 256, 0, stream_>>>(pools_.back(), size);
    }
    require(cudaStreamSynchronize(stream_));
  }

  void run_all() {
    const double one = 1;
    double *x = pools_[0], *y = pools_[1], *z = pools_[2], *out = pools_[3];
    const Int n = n_, m = m_, c2 = c_ * c_, p = p_;
    auto D = [](Int a) { return static_cast<double>(a); };
    copy_speed_ = copy_speed();
    std::printf("a copy moves %.2f TB/s\n", copy_speed_ / 1e12);
    std::printf("%-14s %10s %10s %8s  %s\n", "kernel", "leaf ms", "peer ms", "peer/leaf",
                "rate, and the share of a copy's speed");
    auto gemv = [=, this](cublasOperation_t t, Int rows, Int columns) {
      require(cublasDgemv_64(blas_, t, rows, columns, &one, x, rows, y, 1, &one, out, 1));
    };
    auto gemm = [=, this](Int a, Int b, Int k, double* left, double* right, double* to) {
      const double zero = 0;
      require(cublasDgemm_64(blas_, CUBLAS_OP_N, CUBLAS_OP_N, a, b, k, &one, left, a, right, k, &zero, to, a));
    };
    const double n3 = D(n) * D(n) * D(n);
    run({"ttv",
         leaves_gpu_1,
         {{"ij", 3}, {"ijk", 0}, {"k", 1}},
         8 * (n3 + D(n * n)),
         true,
         [=] { gemv(CUBLAS_OP_T, n, n * n); },
         "Dgemv"});
    run({"matvec",
         leaves_gpu_2,
         {{"m", 3}, {"mM", 0}, {"M", 1}},
         8 * D(m) * D(m),
         true,
         [=] { gemv(CUBLAS_OP_T, m, m); },
         "Dgemv"});
    run({"matvec turned",
         leaves_gpu_3,
         {{"M", 3}, {"mM", 0}, {"m", 1}},
         8 * D(m) * D(m),
         true,
         [=] { gemv(CUBLAS_OP_N, m, m); },
         "Dgemv"});
    run({"fused a*b+c",
         leaves_gpu_4,
         {{"pP", 3}, {"pP", 0}, {"pP", 1}, {"pP", 2}},
         32 * D(p) * D(p),
         true,
         {},
         "",
         false,
         false});
    double* dot = out;
    run({"inner product",
         leaves_gpu_5,
         {{"", 3}, {"ijk", 0}, {"ijk", 1}},
         16 * n3,
         true,
         [=, this] {
           require(cublasSetPointerMode(blas_, CUBLAS_POINTER_MODE_DEVICE));
           require(cublasDdot_64(blas_, n * n * n, x, 1, y, 1, dot));
           require(cublasSetPointerMode(blas_, CUBLAS_POINTER_MODE_HOST));
         },
         "Ddot"});
    run({"ttm",
         leaves_gpu_6,
         {{"ijr", 3}, {"ijk", 0}, {"kr", 1}},
         2 * n3 * 64,
         false,
         [=] { gemm(64, n * n, n, y, x, out); },
         "Dgemm"});
    run({"contraction4",
         leaves_gpu_7,
         {{"abcd", 3}, {"acef", 0}, {"efbd", 1}},
         2 * D(c2) * D(c2) * D(c2),
         false,
         [=] { gemm(c2, c2, c2, y, x, out); },
         "Dgemm alone"});
    double* between = pools_[4];
    run({"mttkrp",
         leaves_gpu_8,
         {{"ir", 3}, {"ijk", 0}, {"jr", 1}, {"kr", 2}},
         2 * n3 * 64,
         false,
         [=] { gemm(64, n * n, n, z, x, between); },
         "Dgemm of one factor"});
    run({"gemm",
         leaves_gpu_9,
         {{"pP", 3}, {"pq", 0}, {"qP", 1}},
         2 * D(p) * D(p) * D(p),
         false,
         [=] { gemm(p, p, p, y, x, out); },
         "Dgemm"});
  }

  bool passed() const { return passed_; }

 private:
  Int extent(char v) const {
    return v == 'r'                                             ? 64
           : std::string("ijk").find(v) != std::string::npos    ? n_
           : std::string("abcdef").find(v) != std::string::npos ? c_
           : v == 'm' || v == 'M'                               ? m_
                                                                : p_;
  }

  double time(const std::function<void()>& work) {
    require(cudaEventRecord(begin_, stream_));
    work();
    require(cudaEventRecord(end_, stream_));
    require(cudaEventSynchronize(end_));
    require(cudaGetLastError());
    float out = 0;
    require(cudaEventElapsedTime(&out, begin_, end_));
    return out;
  }
  static double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
  // Bytes per second, read and written.
  double copy_speed() {
    const size_t bytes = static_cast<size_t>(std::min(sizes_[0], sizes_[1])) * 8;
    std::vector<double> all;
    for (int i = 0; i < 6; ++i)
      all.push_back(
          time([&] { require(cudaMemcpyAsync(pools_[1], pools_[0], bytes, cudaMemcpyDeviceToDevice, stream_)); }));
    fill<<<4096, 256, 0, stream_>>>(pools_[1], sizes_[1]);
    return 2 * static_cast<double>(bytes) / (median(all) / 1e3);
  }

  void run(const Kernel& kernel) {
    std::string indices;
    std::vector<std::vector<Int>> strides;
    std::vector<const Int*> stride;
    std::vector<void*> data;
    for (const Operand& o : kernel.operands) {
      std::vector<Int> all(o.indices.size(), 1);
      for (size_t d = o.indices.size(); d-- > 1;) all[d - 1] = all[d] * extent(o.indices[d]);
      for (char v : o.indices) {
        if (indices.find(v) == std::string::npos) indices += v;
      }
      strides.push_back(all);
      data.push_back(pools_[static_cast<size_t>(o.pool)]);
    }
    for (const auto& s : strides) stride.push_back(s.data());
    std::vector<Int> numbers;
    Int outputs = 1;
    for (char v : indices) numbers.insert(numbers.end(), {0, extent(v)});
    for (char v : kernel.operands[0].indices) outputs *= extent(v);
    auto leaf = [&] { require(kernel.leaf(numbers.data(), data.data(), stride.data(), device_)); };
    check(kernel, indices, outputs, leaf, static_cast<double*>(data[0]));
    std::vector<double> ours, theirs, ratios;
    for (int i = -1; i < pairs_; ++i) {
      double a = time(leaf), b = kernel.peer ? time(kernel.peer) : 0;
      if (i < 0) continue;
      ours.push_back(a);
      theirs.push_back(b);
      ratios.push_back(b / a);
    }
    const double rate = kernel.work / median(ours) * 1e3;
    std::printf("%-14s %10.4f %10.4f %8.3f  %7.2f %s", kernel.name, median(ours), median(theirs), median(ratios),
                rate / 1e12, kernel.streams ? "TB/s" : "TFLOP/s");
    if (kernel.streams) std::printf(" %.3f", rate / copy_speed_);
    std::printf("  %s\n", kernel.peer_name);
    std::fflush(stdout);
  }

  // Compares some elements with the definition; two runs must agree to the bit.
  void check(const Kernel& kernel, const std::string& indices, Int outputs, const std::function<void()>& leaf,
             double* output) {
    std::vector<std::vector<double>> found;
    const Int step = std::max<Int>(outputs / 17, 1);
    for (int run = 0; run < 2; ++run) {
      require(cudaMemsetAsync(output, 0, static_cast<size_t>(outputs) * 8, stream_));
      leaf();
      require(cudaStreamSynchronize(stream_));
      found.emplace_back();
      for (Int e = 0; e < outputs; e += step) {
        found.back().emplace_back();
        require(cudaMemcpy(&found.back().back(), output + e, 8, cudaMemcpyDeviceToHost));
      }
    }
    if (found[0] != found[1]) fail(kernel.name, "two runs differ");
    Int sums = 1;
    for (char v : indices) sums *= kernel.operands[0].indices.find(v) == std::string::npos ? extent(v) : 1;
    const Int most = Int{1} << 27;
    for (size_t s = 0; s < found[0].size() && sums <= most; ++s) {
      if (sums * static_cast<Int>(s) > most) break;
      if (expected(kernel, indices, static_cast<Int>(s) * step) != found[0][s])
        return fail(kernel.name, "an element is wrong");
    }
    if (sums > most) std::printf("%s: only that two runs agree is checked\n", kernel.name);
  }

  double expected(const Kernel& kernel, const std::string& indices, Int output) {
    std::vector<Int> at(128, 0);
    const std::string& out = kernel.operands[0].indices;
    for (size_t d = out.size(); d-- > 0;) {
      at[static_cast<size_t>(out[d])] = output % extent(out[d]);
      output /= extent(out[d]);
    }
    std::string sums;
    for (char v : indices) {
      if (out.find(v) == std::string::npos) sums += v;
    }
    double total = 0;
    while (true) {
      std::vector<double> values;
      for (size_t o = 1; o < kernel.operands.size(); ++o) {
        Int place = 0;
        for (char v : kernel.operands[o].indices) place = place * extent(v) + at[static_cast<size_t>(v)];
        values.push_back(element(place));
      }
      double value = 1;
      for (size_t o = 0; o < values.size(); ++o)
        value = !kernel.product && o == 2 ? value + values[o] : value * values[o];
      total += value;
      size_t d = sums.size();
      while (d > 0 && ++at[static_cast<size_t>(sums[d - 1])] == extent(sums[d - 1]))
        at[static_cast<size_t>(sums[--d])] = 0;
      if (d == 0) return total;
    }
  }

  void fail(const char* kernel, const char* what) {
    std::printf("FAIL %s: %s\n", kernel, what);
    passed_ = false;
  }

  int pairs_;
  Int n_, m_, c_, p_;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  void* blas_memory_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  Device device_;
  std::vector<Int> sizes_;
  std::vector<double*> pools_;
  double copy_speed_ = 1;
  bool passed_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc > 1 ? std::atoi(argv[1]) : 10, argc > 2 ? std::atol(argv[2]) : 1);
  bench.run_all();
  std::puts(bench.passed() ? "all results are right" : "some results are wrong");
  return bench.passed() ? 0 : 1;
}
