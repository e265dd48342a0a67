// Times REPS calls of cublasDgemm for n x n matrices. tools/gpu compares an emitted program with it.
// Usage: cublas N REPS

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

template <class Status>
void require(Status status) {
  if (static_cast<int>(status) == 0) return;
  std::fprintf(stderr, "error: CUDA or cuBLAS failed with status %d\n", static_cast<int>(status));
  std::exit(3);
}

double* matrix(long n, unsigned seed) {
  std::vector<double> values(static_cast<size_t>(n * n));
  for (double& v : values) {
    seed = seed * 1664525U + 1013904223U;
    v = static_cast<double>(seed) / 4294967296.0 - 0.5;
  }
  double* out = nullptr;
  require(cudaMalloc(reinterpret_cast<void**>(&out), values.size() * sizeof(double)));
  require(cudaMemcpy(out, values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice));
  return out;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: cublas N REPS\n");
    return 2;
  }
  long n = std::atol(argv[1]);
  int reps = std::atoi(argv[2]);
  double *a = matrix(n, 1), *b = matrix(n, 2), *c = matrix(n, 3);
  cublasHandle_t handle = nullptr;
  require(cublasCreate(&handle));
  std::printf("{\"seconds\": [");
  for (int rep = 0; rep < reps; ++rep) {
    const double one = 1, zero = 0;
    require(cudaDeviceSynchronize());
    double start = seconds_now();
    require(cublasDgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n));
    require(cudaDeviceSynchronize());
    std::printf("%s%.9f", rep == 0 ? "" : ", ", seconds_now() - start);
  }
  std::printf("]}\n");
  return 0;
}
