// The largest eigenvalue of a matrix by iteration on MPI ranks. The ranks keep the matrix and the vectors in their own
// arrays; at the end the vector is gathered onto one rank, which saves it. docs/cookbook.md explains the program.

#include <distal/distal.h>
#include <distal/mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace distal;

double iterate(int rank, int ranks) {
  constexpr int64_t size = 30;
  Param n("n", size), p("p", ranks);
  Machine M(Grid(p), "M");
  Format rows({Dense, Dense}, Distribution(M, {0})), parts({Dense}, Distribution(M, {0}));
  Format copies({}, Distribution(M, {Everywhere{}}));
  Tensor<double> A("A", {n, n}, rows), x("x", {n}, parts), y("y", {n}, parts);
  Tensor<double> square("square", {}, copies), scale("scale", {}, copies);

  IndexVar i("i"), j("j"), io("io"), ii("ii");
  auto on_parts = [&](Schedule& schedule) { schedule.distribute({i}, {io}, {ii}, M); };
  y(i) = A(i, j) * x(j);
  y.schedule().apply(on_parts);
  square() = y(i) * y(i);
  square.schedule().apply(on_parts);
  MpiKernel multiply(Kernel({y, square}), MPI_COMM_WORLD);
  x(i) = scale * y(i);
  x.schedule().apply(on_parts);
  MpiKernel normalise(x.compile(), MPI_COMM_WORLD);

  // This rank's rows, in arrays of its own: ceil(n / ranks) rows to each, the last ones have fewer.
  int64_t block = (size + ranks - 1) / ranks;
  int64_t first = std::min(size, rank * block), count = std::min(size, first + block) - first;
  std::vector<double> a(count * size), in(count, 1.0), out(count);
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t c = 0; c < size; ++c) a[r * size + c] = 1.0 / double(1 + first + r + c);
  }
  for (int64_t processor : multiply.processors()) {
    A.bind(processor, a);
    x.bind(processor, in);
    y.bind(processor, out);
  }

  double norm = 0, before = 0;
  do {
    before = norm;
    multiply.run();
    square.for_each([&](const auto&, double& here) { norm = std::sqrt(here); });  // its copy
    scale.fill([&](const auto&) { return 1 / norm; });
    normalise.run();
  } while (std::abs(norm - before) > 1e-12);

  // A tensor on the first processor alone; copying into it gathers.
  Tensor<double> whole("whole", {n}, Format({Dense}, Distribution(M, {Face{0}})));
  whole(i) = x(i);
  MpiKernel(whole.compile(), MPI_COMM_WORLD).run();
  save(whole, "eigenvector.npy", MPI_COMM_WORLD);
  return norm;
}

int main(int argc, char** argv) {
  int provided = 0, rank = 0, ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double value = iterate(rank, ranks);
  if (rank == 0) std::printf("the largest eigenvalue is %.6f\n", value);
  MPI_Finalize();
  return 0;
}
