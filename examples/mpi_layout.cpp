// An application on four MPI ranks with matrices in ScaLAPACK's layout. DISTAL reads the operands from, and writes the
// product to, the application's own arrays. docs/mpi.md explains the program.

#include <distal/distal.h>
#include <distal/mpi.h>

#include <cstdio>
#include <vector>

using namespace distal;

// This process's part of an n by n matrix. Square blocks are distributed cyclically over 2 by 2 processes, which are
// numbered row by row. A process holds its blocks as one column-major array. Nothing here knows DISTAL.
struct BlockCyclic {
  int64_t n, block, p, q;  // the process is in row p and column q
  int64_t leading;         // leading dimension: the distance from one column to the next
  std::vector<double> local;

  BlockCyclic(int64_t size, int64_t b, int rank)
      : n(size), block(b), p(rank / 2), q(rank % 2), leading(count(p)), local(count(p) * count(q)) {}
  // How many of the n rows lie on row `process` of the 2 by 2 processes; the same for columns.
  int64_t count(int64_t process) const {
    int64_t out = 0;
    for (int64_t i = 0; i < n; ++i) out += i / block % 2 == process ? 1 : 0;
    return out;
  }
  // Calls f(row, column, element) for every local element, with its row and column in the whole matrix.
  template <class F>
  void for_each(F f) {
    for (int64_t c = 0; c < count(q); ++c) {
      for (int64_t r = 0; r < count(p); ++r) f(global(r, p), global(c, q), local[c * leading + r]);
    }
  }
  int64_t global(int64_t at, int64_t process) const { return (at / block * 2 + process) * block + at % block; }
};

double b_of(int64_t i, int64_t k) { return double((3 * i + k) % 7 - 3); }
double c_of(int64_t k, int64_t j) { return double((k + 5 * j) % 5 - 2); }

// Whether A = B C in the local elements of A.
bool is_product(BlockCyclic& a) {
  bool right = true;
  a.for_each([&](int64_t i, int64_t j, double got) {
    double want = 0;
    for (int64_t k = 0; k < a.n; ++k) want += b_of(i, k) * c_of(k, j);
    right = right && got == want;
  });
  return right;
}

bool multiply(int rank) {
  BlockCyclic a(150, 16, rank), b(150, 16, rank), c(150, 16, rank);
  b.for_each([](int64_t i, int64_t k, double& value) { value = b_of(i, k); });
  c.for_each([](int64_t k, int64_t j, double& value) { value = c_of(k, j); });

  Param n("n", a.n), block("block", a.block), chunk("chunk", 50);
  Machine P(Grid(2, 2), "P");
  Distribution block_cyclic(P, {0, 1});
  block_cyclic.cyclic(0, block).cyclic(1, block);
  Format scalapack({Dense, Dense}, {1, 0}, block_cyclic);
  Tensor<double> A("A", {n, n}, scalapack), B("B", {n, n}, scalapack), C("C", {n, n}, scalapack);

  IndexVar i("i"), j("j"), k("k"), io("io"), jo("jo"), ii("ii"), ji("ji"), ko("ko"), ki("ki");
  IndexVar i_round("i_round"), j_round("j_round");  // the number of a process's block of rows, and of columns
  A(i, j) = B(i, k) * C(k, j);
  A.schedule()
      .distribute({i, j}, {io, jo}, {ii, ji}, A)
      .split(k, ko, ki, chunk)
      .reorder({ko, i_round, j_round, ii, ji, ki})
      .communicate(A, j_round)
      .communicate({B, C}, ko)
      .substitute({ii, ji, ki}, BLAS::GeMM);
  Kernel kernel = A.compile();

  MpiKernel on_ranks(kernel, MPI_COMM_WORLD);
  for (int64_t process : on_ranks.processors()) {
    A.bind(process, a.local, {1, a.leading});
    B.bind(process, b.local, {1, b.leading});
    C.bind(process, c.local, {1, c.leading});
  }
  RunReport report = on_ranks.run();

  if (rank == 0) {
    std::printf("announced %d bytes in %d messages, moved %d in %d\n", int(kernel.cost().bytes_moved),
                int(kernel.cost().messages), int(report.bytes_moved), int(report.messages));
  }
  // Every process needs half of B's rows and half of C's columns, and holds half of each. A does not move.
  int64_t needed = 2 * a.n * a.n * int64_t(sizeof(double));
  return is_product(a) && report.bytes_moved == kernel.cost().bytes_moved && report.bytes_moved == needed;
}

int main(int argc, char** argv) {
  int provided = 0, rank = 0, ranks = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 4) {
    if (rank == 0) std::fputs("start this on four ranks\n", stderr);
    MPI_Finalize();
    return 2;
  }
  int right = multiply(rank) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) std::puts(right ? "the product is right" : "the product is wrong");
  MPI_Finalize();
  return right ? 0 : 1;
}
