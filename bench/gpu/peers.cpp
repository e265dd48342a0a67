// What bench/gpu/bench.py compares emitted programs with: one call of cuBLAS, or a copy. Like an emitted program with
// --paced, it waits for a line before each repetition, and prints the repetition's seconds. If the line is `leaves`, it
// prints the seconds between events of the GPU.
// Usage: peers dgemm|sgemm M N K | dgemv M N | ddot N | copy BYTES

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

template <class Status>
void require(Status status) {
  if (static_cast<int>(status) == 0) return;
  std::fprintf(stderr, "error: CUDA or cuBLAS failed with status %d\n", static_cast<int>(status));
  std::exit(3);
}

// Random numbers, the same ones again after some millions.
template <class T>
T* random_numbers(long count, unsigned seed) {
  std::vector<T> values(1 << 22);
  for (T& v : values) {
    seed = seed * 1664525U + 1013904223U;
    v = static_cast<T>(static_cast<double>(seed) / 4294967296.0 - 0.5);
  }
  T* out = nullptr;
  require(cudaMalloc(reinterpret_cast<void**>(&out), static_cast<size_t>(count) * sizeof(T)));
  const long step = static_cast<long>(values.size());
  for (long first = 0; first < count; first += step) {
    const long some = count - first < step ? count - first : step;
    require(cudaMemcpy(out + first, values.data(), static_cast<size_t>(some) * sizeof(T), cudaMemcpyHostToDevice));
  }
  return out;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void gemm(cublasHandle_t h, long m, long n, long k, const double* a, const double* b, double* c) {
  const double one = 1, zero = 0;
  require(cublasDgemm_64(h, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n));
}
void gemm(cublasHandle_t h, long m, long n, long k, const float* a, const float* b, float* c) {
  const float one = 1, zero = 0;
  require(cublasSgemm_64(h, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n));
}

template <class T>
std::function<void()> matrix_product(cublasHandle_t h, long m, long n, long k) {
  T *a = random_numbers<T>(m * k, 1), *b = random_numbers<T>(k * n, 2), *c = random_numbers<T>(m * n, 3);
  return [=] { gemm(h, m, n, k, a, b, c); };
}

// What a repetition does, as asked for by the command line.
std::function<void()> work_of(cublasHandle_t h, const std::string& kind, const std::vector<long>& n) {
  if (kind == "dgemm" && n.size() == 3) return matrix_product<double>(h, n[0], n[1], n[2]);
  if (kind == "sgemm" && n.size() == 3) return matrix_product<float>(h, n[0], n[1], n[2]);
  if (kind == "dgemv" && n.size() == 2) {
    double *a = random_numbers<double>(n[0] * n[1], 1), *x = random_numbers<double>(n[1], 2);
    double* y = random_numbers<double>(n[0], 3);
    const long rows = n[0], columns = n[1];
    return [=] {
      const double one = 1, zero = 0;
      require(cublasDgemv_64(h, CUBLAS_OP_T, columns, rows, &one, a, columns, x, 1, &zero, y, 1));
    };
  }
  if (kind == "ddot" && n.size() == 1) {
    double *x = random_numbers<double>(n[0], 1), *y = random_numbers<double>(n[0], 2);
    double* out = random_numbers<double>(1, 3);
    require(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    const long count = n[0];
    return [=] { require(cublasDdot_64(h, count, x, 1, y, 1, out)); };
  }
  if (kind == "copy" && n.size() == 1) {
    double *from = random_numbers<double>(n[0] / 8, 1), *to = random_numbers<double>(n[0] / 8, 2);
    const size_t bytes = static_cast<size_t>(n[0]);
    return [=] { require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr)); };
  }
  std::fprintf(stderr, "usage: peers dgemm|sgemm M N K | dgemv M N | ddot N | copy BYTES\n");
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<long> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::atol(argv[i]));
  cublasHandle_t handle = nullptr;
  require(cublasCreate(&handle));
  std::function<void()> work = work_of(handle, argc > 1 ? argv[1] : "", sizes);
  cudaEvent_t begin = nullptr, end = nullptr;
  require(cudaEventCreate(&begin));
  require(cudaEventCreate(&end));
  for (char line[64]; std::fgets(line, sizeof(line), stdin);) {
    require(cudaDeviceSynchronize());
    const double start = seconds_now();
    require(cudaEventRecord(begin, nullptr));
    work();
    require(cudaEventRecord(end, nullptr));
    require(cudaDeviceSynchronize());
    const double seconds = seconds_now() - start;
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin, end));
    std::printf("{\"seconds\": %.9f, \"leaf_seconds\": %.9f}\n", seconds, static_cast<double>(milliseconds) / 1000);
    std::fflush(stdout);
  }
  return 0;
}
