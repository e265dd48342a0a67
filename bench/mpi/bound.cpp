// rows.distal as an application: a GEMM of matrices by rows, on all ranks of MPI_COMM_WORLD.
// Usage: bound ROWS COLUMNS TERMS REPS [ALIGNMENT|given]
//
// The matrices lie in the application's own memory: at a multiple of ALIGNMENT bytes, or where std::vector allocates
// them. With "given" they lie in memory of the tensors, which the ranks of a node share. Rank 0 prints the best time as
// a line of JSON.

#include <distal/distal.h>
#include <distal/mpi.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

using namespace distal;

namespace {

double b_of(int64_t i, int64_t k) { return double((3 * i + k) % 7 - 3); }
double c_of(int64_t k, int64_t j) { return double((k + 5 * j) % 5 - 2); }

// The alignment of the application's own memory in bytes. Without a value the matrices lie in memory of the tensors.
using Alignment = std::optional<size_t>;

// Returns 0 if the text is no alignment.
size_t parse_alignment(const char* text) {
  auto bytes = static_cast<size_t>(std::atoll(text));
  return std::has_single_bit(bytes) && bytes >= alignof(double) ? bytes : 0;
}

// The rows of a matrix that a rank owns: the same number for each rank, except for the last ones.
struct Rows {
  int64_t first, count, columns;
  std::vector<double> memory;
  std::span<double> values;

  Rows(int64_t rows, int64_t width, int rank, int ranks) : columns(width) {
    int64_t each = (rows + ranks - 1) / ranks;
    first = std::min(rows, rank * each);
    count = std::min(rows, first + each) - first;
  }
  // Binds memory of the application to the tensor, or takes the memory of the tensor.
  void attach_to(Tensor<double>& tensor, int64_t processor, Alignment alignment) {
    size_t elements = static_cast<size_t>(count * columns), bytes = elements * sizeof(double);
    if (!alignment) {
      for (const PieceInfo& piece : tensor.pieces()) {
        if (piece.processor == processor) values = {static_cast<double*>(piece.data), elements};
      }
      return;
    }
    memory.resize((bytes + *alignment) / sizeof(double));
    void* begin = memory.data();
    size_t space = bytes + *alignment;
    values = {static_cast<double*>(std::align(*alignment, bytes, begin, space)), elements};
    tensor.bind(processor, values);
  }
  template <class Value>
  void fill(Value value) {
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < columns; ++j) values[i * columns + j] = value(first + i, j);
    }
  }
};

// Compares up to 100 sampled elements of the own rows with the product.
bool is_product(const Rows& a, int64_t terms) {
  for (int64_t n = 0; n < std::min<int64_t>(100, a.count); ++n) {
    int64_t i = n * 7919 % a.count, j = n * 104729 % a.columns;
    double want = 0;
    for (int64_t k = 0; k < terms; ++k) want += b_of(a.first + i, k) * c_of(k, j);
    if (a.values[i * a.columns + j] != want) return false;
  }
  return true;
}

// Returns the best time of 1 + `reps` runs, or -1 if the product is wrong.
double best_time(int64_t rows, int64_t columns, int64_t terms, int reps, Alignment alignment) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Rows a(rows, columns, rank, ranks), b(rows, terms, rank, ranks), c(terms, columns, rank, ranks);

  Machine M(Grid(ranks), "M");
  Format in_rows({Dense, Dense}, Distribution(M, {0}));
  Tensor<double> A("A", {rows, columns}, in_rows), B("B", {rows, terms}, in_rows), C("C", {terms, columns}, in_rows);
  IndexVar i("i"), j("j"), k("k"), io("io"), ii("ii"), ko("ko"), ki("ki"), kos("kos");
  A(i, j) = B(i, k) * C(k, j);
  A.schedule()
      .distribute({i}, {io}, {ii}, M)
      .divide(k, ko, ki, ranks)
      .reorder({io, ko, ii, j, ki})
      .rotate(ko, {io}, kos)
      .communicate(A, io)
      .communicate({B, C}, kos)
      .substitute({ii, j, ki}, BLAS::GeMM);
  MpiKernel kernel(A.compile(), MPI_COMM_WORLD);
  for (int64_t p : kernel.processors()) {
    a.attach_to(A, p, alignment);
    b.attach_to(B, p, alignment);
    c.attach_to(C, p, alignment);
  }
  b.fill(b_of);
  c.fill(c_of);
  RunOptions options;
  options.threads = 1;
  double best = INFINITY;
  for (int run = 0; run <= reps; ++run) best = std::min(best, kernel.run(options).seconds);
  int right = is_product(a, terms) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return right ? best : -1;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Alignment alignment = alignof(double);
  if (argc == 6 && std::strcmp(argv[5], "given") == 0) {
    alignment = std::nullopt;
  } else if (argc == 6) {
    alignment = parse_alignment(argv[5]);
  }
  if ((argc != 5 && argc != 6) || alignment == size_t{0}) {
    if (rank == 0) std::fputs("usage: bound ROWS COLUMNS TERMS REPS [ALIGNMENT|given]\n", stderr);
    MPI_Finalize();
    return 2;
  }
  double best = best_time(std::atoll(argv[1]), std::atoll(argv[2]), std::atoll(argv[3]), std::atoi(argv[4]), alignment);
  if (rank == 0 && best > 0) std::printf("{\"seconds_min\": %.9f}\n", best);
  if (rank == 0 && best < 0) std::fputs("the product is wrong\n", stderr);
  MPI_Finalize();
  return best > 0 ? 0 : 1;
}
