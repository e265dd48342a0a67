// The host's time in the leaves of bench/gpu/leaves/leaves.distal at the sizes there, on any machine: launches and
// calls of cuBLAS do nothing. Prints the median of 21 rounds.

#include <cublas_v2.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
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

constexpr int kRounds = 21, kRuns = 2000;

// The extents of the indices, by their letters below.
const std::map<char, Int> kExtents{{'i', 1024},  {'j', 1024},  {'k', 1024},  {'r', 64},    {'m', 32768},
                                   {'M', 32768}, {'p', 16384}, {'P', 16384}, {'q', 16384}, {'a', 64},
                                   {'b', 64},    {'c', 64},    {'d', 64},    {'e', 64},    {'f', 64}};

struct Kernel {
  const char* name;
  Function* leaf;
  std::vector<std::string> operands;  // a letter for each dimension; the first one is the output
};

const std::vector<Kernel> kKernels{{"GEMM 16384", leaves_gpu_9, {"pP", "pq", "qP"}},
                                   {"TTV 1024^3", leaves_gpu_1, {"ij", "ijk", "k"}},
                                   {"matrix-vector 32768^2", leaves_gpu_2, {"m", "mM", "M"}},
                                   {"the same, transposed", leaves_gpu_3, {"M", "mM", "m"}},
                                   {"fused a*b+c 16384^2", leaves_gpu_4, {"pP", "pP", "pP", "pP"}},
                                   {"inner product 1024^3", leaves_gpu_5, {"", "ijk", "ijk"}},
                                   {"TTM 1024^3 x 64", leaves_gpu_6, {"ijr", "ijk", "kr"}},
                                   {"4-index contraction 64^6", leaves_gpu_7, {"abcd", "acef", "efbd"}},
                                   {"MTTKRP 1024^3, rank 64", leaves_gpu_8, {"ir", "ijk", "jr", "kr"}}};

// What a leaf is called with: row-major tensors, which do not exist.
struct Arguments {
  std::vector<Int> numbers;
  std::vector<std::vector<Int>> strides;
  std::vector<const Int*> stride;
  std::vector<void*> data;

  explicit Arguments(const Kernel& kernel) {
    std::string indices;
    for (const std::string& operand : kernel.operands) {
      std::vector<Int> all(operand.size(), 1);
      for (size_t d = operand.size(); d-- > 1;) all[d - 1] = all[d] * kExtents.at(operand[d]);
      for (char v : operand) {
        if (indices.find(v) == std::string::npos) indices += v;
      }
      strides.push_back(all);
      data.push_back(reinterpret_cast<void*>((data.size() + 1) << 40));
    }
    for (const auto& s : strides) stride.push_back(s.data());
    for (char v : indices) numbers.insert(numbers.end(), {0, kExtents.at(v)});
  }
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void measure(const Kernel& kernel) {
  const Arguments a(kernel);
  CUstream_st stream;
  cublasContext blas;
  const Device device{&stream, &blas, reinterpret_cast<void*>(std::uintptr_t{1} << 30), distal_gpu::kScratchBytes};
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = seconds_now();
    for (int run = 0; run < kRuns; ++run) kernel.leaf(a.numbers.data(), a.data.data(), a.stride.data(), device);
    rounds.push_back((seconds_now() - begin) / kRuns);
  }
  std::sort(rounds.begin(), rounds.end());
  const long runs = long{kRounds} * kRuns;
  std::printf("| %s | %ld | %ld | %.0f |\n", kernel.name, stream.launches / runs, blas.calls / runs,
              1e9 * rounds[kRounds / 2]);
}

}  // namespace

int main() {
  std::puts("| leaf | launches | calls of cuBLAS | ns |\n| --- | --- | --- | --- |");
  for (const Kernel& kernel : kKernels) measure(kernel);
}
