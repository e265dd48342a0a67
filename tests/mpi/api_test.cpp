#include "distal/mpi.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>

#include "api/errors.h"
#include "api/summa.h"

// Applications that pass a communicator to DISTAL. Every rank runs all tests. A test that fails ends the job.
namespace distal {

namespace {

int this_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// A file that all ranks name alike. The first rank removes it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name) {
    int id = getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    path_ = ::testing::TempDir() + "distal_" + name + "_" + std::to_string(id) + ".npy";
  }
  ~TemporaryFile() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (this_rank() == 0) std::remove(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Checks the elements of A = B C that this rank owns. B and C were filled by value_of.
void expect_own_product(Tensor<double>& a, int64_t depth, double salt_b, double salt_c) {
  a.for_each([&](const std::vector<int64_t>& at, double& got) {
    double want = 0;
    for (int64_t k = 0; k < depth; ++k) want += value_of({at[0], k}, salt_b) * value_of({k, at[1]}, salt_c);
    ASSERT_EQ(got, want) << at[0] << ", " << at[1];
  });
}

TEST(MpiKernel, RunsAgainAndAgainWithNewSizes) {
  Summa s;
  MpiKernel kernel(s.A.compile(), MPI_COMM_WORLD);
  for (int64_t size : {7, 16, 5}) {
    s.ni = size;
    s.nk = size + 4;
    kernel.processors();  // takes over the new size
    fill(s.B, 1);
    fill(s.C, 2);
    for (int run = 0; run < 2; ++run) {
      RunReport report = kernel.run();
      EXPECT_EQ(report.bytes_moved, s.A.compile().cost().bytes_moved);
      EXPECT_EQ(report.messages, s.A.compile().cost().messages);
      expect_own_product(s.A, size + 4, 1, 2);
    }
  }
}

TEST(MpiKernel, IsCancelledOnAllRanks) {
  Summa s;
  MpiKernel kernel(s.A.compile(), MPI_COMM_WORLD);
  fill(s.B, 1);
  fill(s.C, 2);
  Progress progress;
  if (this_rank() == 0) progress.cancel();
  EXPECT_THROW(kernel.run({.progress = &progress}), Interrupted);
  kernel.run();
  expect_own_product(s.A, 11, 1, 2);
}

TEST(MpiKernel, ItsSearchIsCancelledOnAllRanks) {
  Machine m(Processors(4), "M");
  IndexVar i("i"), j("j"), k("k");
  Tensor<double> A("A", {8, 8}, Format(m)), B("B", {8, 8}, Format(m)), C("C", {8, 8}, Format(m));
  A(i, j) = B(i, k) * C(k, j);
  Progress progress;
  if (this_rank() == 0) progress.cancel();
  FindOptions find{.engine = "mpi", .progress = &progress};
  EXPECT_THROW(MpiKernel({A}, MPI_COMM_WORLD, find), Interrupted);
  MpiKernel kernel({A}, MPI_COMM_WORLD);
  fill(B, 1);
  fill(C, 2);
  kernel.run();
  expect_own_product(A, 8, 1, 2);
}

TEST(MpiKernel, OnACommunicatorOfSomeRanks) {
  MPI_Comm half = MPI_COMM_NULL;
  int rank = this_rank();
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  {
    Summa s;
    MpiKernel kernel(s.A.compile(), half);
    fill(s.B, rank % 2);
    fill(s.C, 2);
    kernel.run();
    expect_own_product(s.A, 11, rank % 2, 2);
  }
  MPI_Comm_free(&half);
}

// ScaLAPACK's layout: block-cyclic in both dimensions, column-major, with a leading dimension larger than the piece.
struct BlockCyclic {
  Param n{23}, m{17};
  Machine grid{Grid(2, 2)};
  Format format;
  Tensor<double> A, B, C;
  std::vector<std::vector<double>> memory;

  static Distribution dealt(const Machine& grid) {
    Distribution d(grid, {0, 1});
    d.cyclic(0, Int(3)).cyclic(1, Int(4));
    return d;
  }
  BlockCyclic() : format({Dense, Dense}, dealt(grid)), A({n, m}, format), B({n, m}, format), C({n, m}, format) {}

  void bind_all(const MpiKernel& kernel) {
    constexpr int64_t kLeading = 40, kColumns = 40;
    for (int64_t p : kernel.processors()) {
      for (Tensor<double>* t : {&A, &B, &C}) {
        memory.emplace_back(static_cast<size_t>(kLeading * kColumns), -1.0);
        t->bind(p, std::span<double>(memory.back()), {1, kLeading});
      }
    }
  }
};

TEST(MpiKernel, UsesTheCallersLayoutWhereItLies) {
  BlockCyclic s;
  s.memory.reserve(12);
  IndexVar i, j;
  s.A(i, j) = s.B(i, j) + s.C(i, j);
  IndexVar io, jo, i_round, j_round, ii, ji;
  // The blocks of a round are exact rectangles of the output; those of all rounds together are not.
  s.A.schedule().distribute({i, j}, {io, jo}, {i_round, ii, j_round, ji}, s.A).communicate({s.A, s.B, s.C}, j_round);
  MpiKernel kernel(s.A.compile(), MPI_COMM_WORLD);
  s.bind_all(kernel);
  fill(s.B, 1);
  fill(s.C, 2);
  RunReport report = kernel.run();
  EXPECT_EQ(report.bytes_moved, 0);
  EXPECT_EQ(report.bytes_copied, 0);
  s.A.for_each([&](const std::vector<int64_t>& at, double& got) { ASSERT_EQ(got, value_of(at, 1) + value_of(at, 2)); });
}

TEST(MpiKernel, MovesWhatDoesNotFit) {
  BlockCyclic s;
  s.memory.reserve(12);
  IndexVar i, j;
  s.A(i, j) = s.B(i, j) - s.C(i, j);
  IndexVar io, jo, ii, ji;
  s.A.schedule().distribute({i, j}, {io, jo}, {ii, ji}, s.grid);  // blocked, but the layout is block-cyclic
  Kernel made = s.A.compile();
  MpiKernel kernel(made, MPI_COMM_WORLD);
  s.bind_all(kernel);
  fill(s.B, 1);
  fill(s.C, 2);
  RunReport report = kernel.run();
  EXPECT_GT(report.bytes_moved, 0);
  EXPECT_EQ(report.bytes_moved, made.cost().bytes_moved);
  EXPECT_EQ(report.messages, made.cost().messages);
  s.A.for_each([&](const std::vector<int64_t>& at, double& got) { ASSERT_EQ(got, value_of(at, 1) - value_of(at, 2)); });
}

// The local array of a ScaLAPACK process, in the terms of ScaLAPACK. The matrix is distributed block-cyclically, in
// blocks of mb x nb, over rows x columns processes. The array is column-major; its leading dimension exceeds its rows.
struct LocalArray {
  int64_t m, n, mb, nb, rows, columns, row, column;
  int64_t leading;
  std::vector<double> memory;

  LocalArray(int64_t height, int64_t width, int64_t block_m, int64_t block_n, int64_t p)
      : m(height), n(width), mb(block_m), nb(block_n), rows(2), columns(3), row(p / 3), column(p % 3) {
    leading = count(m, mb, row, rows) + 5;
    memory.assign(static_cast<size_t>(leading * std::max<int64_t>(1, count(n, nb, column, columns))), -7.0);
  }
  // How many of `all` coordinates one process owns: ScaLAPACK's NUMROC.
  static int64_t count(int64_t all, int64_t block, int64_t process, int64_t processes) {
    int64_t whole = all / block, out = whole / processes * block;
    if (process < whole % processes) out += block;
    if (process == whole % processes) out += all % block;
    return out;
  }
  template <class F>
  void for_each(F f) {
    for (int64_t c = 0; c < count(n, nb, column, columns); ++c) {
      for (int64_t r = 0; r < count(m, mb, row, rows); ++r) {
        int64_t i = (r / mb * rows + row) * mb + r % mb, j = (c / nb * columns + column) * nb + c % nb;
        f(i, j, memory[static_cast<size_t>(c * leading + r)]);
      }
    }
  }
};

TEST(MpiKernel, MultipliesMatricesOfScaLapack) {
  constexpr int64_t kM = 37, kN = 29, kK = 41;
  Machine grid{Grid(2, 3)};
  auto dealt = [&](int64_t rows, int64_t columns) {
    Distribution d(grid, {0, 1});
    d.cyclic(0, Int(rows)).cyclic(1, Int(columns));
    return Format({Dense, Dense}, {1, 0}, d);
  };
  Tensor<double> A({Int(kM), Int(kN)}, dealt(4, 3)), B({Int(kM), Int(kK)}, dealt(4, 5)),
      C({Int(kK), Int(kN)}, dealt(5, 3));
  IndexVar i, j, k, io, jo, ii, ji, ko, ki;
  A(i, j) = B(i, k) * C(k, j);
  A.schedule()
      .distribute({i, j}, {io, jo}, {ii, ji}, A)
      .split(k, ko, ki, Int(10))
      .reorder({io, jo, ko, ii, ji, ki})
      .communicate(A, jo)
      .communicate({B, C}, ko);
  Kernel made = A.compile();
  MpiKernel kernel(made, MPI_COMM_WORLD);
  std::vector<LocalArray> a, b, c;
  for (int64_t p : kernel.processors()) {
    a.emplace_back(kM, kN, 4, 3, p);
    b.emplace_back(kM, kK, 4, 5, p).for_each([](int64_t x, int64_t y, double& v) { v = value_of({x, y}, 1); });
    c.emplace_back(kK, kN, 5, 3, p).for_each([](int64_t x, int64_t y, double& v) { v = value_of({x, y}, 2); });
  }
  std::vector<int64_t> here = kernel.processors();
  for (size_t at = 0; at < here.size(); ++at) {
    A.bind(here[at], a[at].memory, {1, a[at].leading});
    B.bind(here[at], b[at].memory, {1, b[at].leading});
    C.bind(here[at], c[at].memory, {1, c[at].leading});
  }
  for (int run = 0; run < 2; ++run) {
    RunReport report = kernel.run();
    EXPECT_EQ(report.bytes_moved, made.cost().bytes_moved);
    EXPECT_EQ(report.messages, made.cost().messages);
    for (LocalArray& local : a) {
      local.for_each([&](int64_t x, int64_t y, double& got) {
        double want = 0;
        for (int64_t z = 0; z < kK; ++z) want += value_of({x, z}, 1) * value_of({z, y}, 2);
        ASSERT_EQ(got, want) << x << ", " << y;
        got = 0;
      });
    }
  }
}

// Ranks of a node read each other's pieces in place if DISTAL allocated them. Pieces in the caller's buffers are copied
// once.
TEST(MpiKernel, TakesNeighboursPiecesWhereTheyLie) {
  bool apart = std::getenv("DISTAL_MPI_SHARED") != nullptr;
  Summa s;
  s.ni = 8;
  s.nk = 8;
  s.chunk = 4;  // each step needs only one piece of each tensor
  MpiKernel kernel(s.A.compile(), MPI_COMM_WORLD);
  std::vector<double> own[2] = {std::vector<double>(64), std::vector<double>(64)};
  for (bool binds : {false, true}) {
    for (int run = 0; run < 4; ++run) {
      for (int64_t p : kernel.processors()) {
        if (binds && p == 0) s.C.bind(p, own[run / 2]);
      }
      fill(s.B, 1);
      fill(s.C, run);
      RunReport report = kernel.run();
      EXPECT_EQ(report.bytes_moved, s.A.compile().cost().bytes_moved);
      int64_t copy = binds ? 8 * 9 * 8 : 0;
      EXPECT_EQ(report.bytes_copied, apart ? report.bytes_moved : copy);
      expect_own_product(s.A, 8, 1, run);
    }
  }
}

// A ring: in each step a tile comes from the next processor, which may be on another node than the owner of the tile.
TEST(MpiKernel, TurnsTilesOfTheCallersBuffers) {
  constexpr int64_t kProcessors = 4, kRows = 3, kSize = kProcessors * kRows;
  Machine line{Grid(kProcessors)};
  Format rows({Dense, Dense}, Distribution(line, {0}));
  Tensor<double> A({kSize, kSize}, rows), B({kSize, kSize}, rows), C({kSize, kSize}, rows);
  IndexVar i, j, k, io, ii, ko, ki, kos;
  A(i, j) = B(i, k) * C(k, j);
  A.schedule()
      .distribute({i}, {io}, {ii}, line)
      .divide(k, ko, ki, kProcessors)
      .reorder({io, ko, ii, j, ki})
      .rotate(ko, {io}, kos)
      .communicate(A, io)
      .communicate({B, C}, kos);
  Kernel made = A.compile();
  MpiKernel kernel(made, MPI_COMM_WORLD);
  std::map<int64_t, std::vector<double>> memory;  // by processor
  for (int64_t p : kernel.processors()) {
    memory[p].assign(3 * kRows * kSize, -1);
    std::span<double> all(memory[p]);
    A.bind(p, all.subspan(0, kRows * kSize));
    B.bind(p, all.subspan(kRows * kSize, kRows * kSize));
    C.bind(p, all.subspan(2 * kRows * kSize));
  }
  for (int run = 0; run < 3; ++run) {
    fill(B, run);
    fill(C, 2);
    RunReport report = kernel.run();
    EXPECT_EQ(report.bytes_moved, made.cost().bytes_moved);
    EXPECT_EQ(report.messages, made.cost().messages);
    expect_own_product(A, kSize, run, 2);
  }
}

// A product for which only the machine is given; formats and schedule are left out.
struct FreeProduct {
  Param n{"n", 20};
  Machine m{Processors(4), "M"};
  Tensor<double> A{"A", {n, n}, Format(m)}, B{"B", {n, n}, Format(m)}, C{"C", {n, n}, Format(m)};
  IndexVar i{"i"}, j{"j"}, k{"k"};

  FreeProduct() { A(i, j) = B(i, k) * C(k, j); }
};

TEST(MpiKernel, TheFirstRankFindsWhatIsLeftOut) {
  FreeProduct s;
  fill(s.B, 1);
  fill(s.C, 2);
  MpiKernel kernel({s.A}, MPI_COMM_WORLD);
  std::vector<PieceInfo> pieces = s.B.layout();
  EXPECT_EQ(pieces.size(), kernel.processors().size());
  RunReport report = kernel.run();
  EXPECT_GT(report.bytes_moved, 0);
  expect_own_product(s.A, 20, 1, 2);
  for (int64_t size : {7, 33}) {
    s.n = size;
    kernel.processors();
    fill(s.B, 3);
    fill(s.C, 4);
    kernel.run();
    expect_own_product(s.A, size, 3, 4);
  }
}

TEST(MpiKernel, ASpreadTensorGetsNoFormatAnyMore) {
  FreeProduct s;
  Tensor<double> from("from", {s.n, s.n});
  MpiKernel copy(s.B.copy_kernel(from), MPI_COMM_WORLD);
  copy.run();
  EXPECT_EQ(message_of([&] { s.A.compile(); }), "tensor B is spread over ranks");
}

// The product is computed in parts. The workspace between them is a tensor of the kernel, distributed over the ranks.
TEST(MpiKernel, RunsProductsInParts) {
  FreeProduct s;
  Tensor<double> D("D", {s.n, s.n}, Format(s.m));
  IndexVar l("l");
  s.A(s.i, l) = s.B(s.i, s.j) * s.C(s.j, s.k) * D(s.k, l);
  fill(s.B, 1);
  fill(s.C, 2);
  fill(D, 3);
  MpiKernel kernel({s.A}, MPI_COMM_WORLD);
  kernel.run();
  s.A.for_each([&](const std::vector<int64_t>& at, double& got) {
    double want = 0;
    for (int64_t p = 0; p < 20; ++p) {
      for (int64_t q = 0; q < 20; ++q) want += value_of({at[0], p}, 1) * value_of({p, q}, 2) * value_of({q, at[1]}, 3);
    }
    ASSERT_EQ(got, want) << at[0] << ", " << at[1];
  });
}

TEST(MpiKernel, WhatEveryRankFindsIsTheSame) {
  FreeProduct mine, together;
  MpiKernel kernel(mine.A.compile({.engine = "mpi"}), MPI_COMM_WORLD), other({together.A}, MPI_COMM_WORLD);
  ASSERT_EQ(mine.B.layout().size(), together.B.layout().size());
  for (size_t p = 0; p < mine.B.layout().size(); ++p) {
    EXPECT_EQ(mine.B.layout()[p].rectangles, together.B.layout()[p].rectangles);
  }
}

TEST(MpiKernel, AllRanksRefuseWhatCannotBeFound) {
  FreeProduct s;
  EXPECT_NE(message_of([&] { MpiKernel({s.A}, MPI_COMM_WORLD, {.memory_bytes = 10}); }).find("nothing fits"),
            std::string::npos);
  std::string missing = this_rank() == 0 ? "/nonexistent.model" : "";
  EXPECT_NE(message_of([&] {
              MpiKernel({s.A}, MPI_COMM_WORLD, {.engine = "mpi", .model = missing});
            }).find("cannot read the model /nonexistent.model"),
            std::string::npos);
}

// Two kernels use the same pieces in turn.
TEST(MpiKernel, SharesPiecesWithOtherKernels) {
  Summa s;
  Tensor<double> D({s.ni, s.nj}, s.f);
  IndexVar i, j, io, jo, ii, ji;
  D(i, j) = s.A(i, j) + s.A(i, j);
  D.schedule().distribute({i, j}, {io, jo}, {ii, ji}, s.m);
  MpiKernel product(s.A.compile(), MPI_COMM_WORLD), twice(D.compile(), MPI_COMM_WORLD);
  for (int64_t size : {7, 12}) {
    s.ni = size;
    product.processors();
    fill(s.B, double(size));
    fill(s.C, 2);
    product.run();
    twice.run();
    D.for_each([&](const std::vector<int64_t>& at, double& got) { ASSERT_EQ(got, 2 * s.A.at(at)); });
  }
}

// Buffers that are used again are moved to huge pages, and must keep their elements.
TEST(MpiKernel, KeepsTheElementsOfLargeBuffers) {
  Param n{2100};
  Machine line{Grid(2)};
  Format rows({Dense, Dense}, Distribution(line, {0}));
  Tensor<double> A({n, n}, rows), B({n, n}, rows);
  IndexVar i, j, io, ii;
  A(i, j) = B(i, j) + B(i, j);
  A.schedule().distribute({i}, {io}, {ii}, line);
  MpiKernel kernel(A.compile(), MPI_COMM_WORLD);
  std::vector<double> a(1050 * 2100 + 1), b(a.size());
  for (int64_t p : kernel.processors()) {
    if (this_rank() != p) continue;  // a single rank has both processors, but one buffer of each tensor
    A.bind(p, std::span(a).subspan(1));
    B.bind(p, std::span(b).subspan(1));
  }
  fill(B, 3);
  for (int run = 0; run < 3; ++run) {
    kernel.run();
    A.for_each([&](const std::vector<int64_t>& at, double& got) { ASSERT_EQ(got, 2 * value_of(at, 3)); });
    B.for_each([&](const std::vector<int64_t>& at, double& got) { ASSERT_EQ(got, value_of(at, 3)); });
  }
}

TEST(MpiKernel, ComparesWhatItNeedsWithWhatTheNodeHas) {
  Param n{4}, many{int64_t{1} << 40};
  Machine line{Grid(2)};
  Format cut({Dense}, Distribution(line, {0}));
  Tensor<double> A({n}, cut), B({many}, cut), C({n}, cut);
  IndexVar i, j, io, ii;
  A(i) = C(i) * B(j);
  A.schedule().distribute({i}, {io}, {ii}, line).communicate(B, io);
  MpiKernel kernel(A.compile(), MPI_COMM_WORLD);
  double unused = 0;
  for (int64_t p : kernel.processors()) B.bind(p, &unused);
  std::string said = message_of([&] { kernel.run(); });
  EXPECT_NE(said.find("the run needs "), std::string::npos) << said;
  EXPECT_NE(said.find(" bytes) on this node, which has "), std::string::npos) << said;
}

// No rank allocates a piece unless all ranks have the memory for theirs.
TEST(MpiKernel, ComparesPiecesThatItWouldMakeWithWhatTheMachineHas) {
  Param many{int64_t{1} << 40};
  Machine line{Grid(2)};
  Format cut({Dense}, Distribution(line, {0}));
  Tensor<double> A({many}, cut), B("B", {many}, cut);
  IndexVar i, io, ii;
  A(i) = B(i);
  A.schedule().distribute({i}, {io}, {ii}, line);
  MpiKernel kernel(A.compile(), MPI_COMM_WORLD);
  std::string said = error_of([&] { kernel.run(); });
  EXPECT_NE(said.find("the run needs 16.0 TiB (17,592,186,044,416 bytes) on this node, which has "), std::string::npos)
      << said;
  EXPECT_NE(said.find("help: choose smaller sizes, or more nodes"), std::string::npos) << said;
  if (kernel.processors().empty()) return;
  said = message_of([&] { fill(B, 1); });
  EXPECT_EQ(said.find("tensor B needs 4.0 TiB (4,398,046,511,104 bytes) for the pieces of this process, and it has "),
            0U)
      << said;
}

TEST(MpiKernel, TakesBuffersBackWhereAGridShrinks) {
  Param g{6};
  Machine line{Grid(g)};
  Format cut({Dense}, Distribution(line, {0}));
  Tensor<double> A({12}, cut), B({12}, cut);
  IndexVar i, io, ii;
  A(i) = B(i) + B(i);
  A.schedule().distribute({i}, {io}, {ii}, line);
  MpiKernel kernel(A.compile(), MPI_COMM_WORLD);
  std::map<int64_t, std::vector<double>> memory;  // by processor
  for (int64_t p : kernel.processors()) B.bind(p, memory[p] = std::vector<double>(2));
  kernel.run();
  g = 2;
  for (const auto& [p, buffer] : memory) {
    if (p >= 2) B.bind(p, std::span<double>());
  }
  for (int64_t p : kernel.processors()) B.bind(p, memory[p] = std::vector<double>(6));
  fill(B, 1);
  kernel.run();
  A.for_each([&](const std::vector<int64_t>& at, double& got) { ASSERT_EQ(got, 2 * value_of(at, 1)); });
}

TEST(MpiKernel, KnowsItsOwnPiecesOnly) {
  Summa s;
  MpiKernel kernel(s.A.compile(), MPI_COMM_WORLD);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ASSERT_GE(ranks, 2);
  int64_t other = this_rank() == 0 ? 6 : 0;
  EXPECT_EQ(message_of([&] {
              s.A.at({other, other});
            }),
            s.A.name() + "(" + std::to_string(other) + ", " + std::to_string(other) + ") is on another rank");
  std::string is_spread = "error: tensor " + s.A.name() + " is spread over ranks\n  help: ";
  EXPECT_EQ(error_of([&] { s.A.save("never.npy"); }),
            is_spread + "write it from all ranks: distal::save(tensor, file, communicator) of distal/mpi.h");
  EXPECT_EQ(error_of([&] { s.A.redistribute(s.f); }),
            is_spread + "declare a tensor of the new format, and run an MpiKernel of its copy_kernel()");
  EXPECT_EQ(error_of([&] { s.A.compile().run(); }), is_spread + "a Kernel runs in one process; run its MpiKernel");
  Tensor<double> D({s.ni, s.nj}, Format({Dense, Dense}, Distribution(Machine(Grid(3, 3)), {0, 1})));
  IndexVar i, j;
  D(i, j) = s.A(i, j);
  s.A.pieces();
  EXPECT_EQ(message_of([&] { MpiKernel(D.compile(), MPI_COMM_WORLD); }),
            "tensor " + s.A.name() + " is spread over the ranks in another way, by another kernel");
}

TEST(MpiKernel, RefusesBuffersThatItCannotUse) {
  Summa s;
  MpiKernel kernel(s.A.compile(), MPI_COMM_WORLD);
  s.A.pieces();
  std::vector<double> buffer(100);
  int64_t here = kernel.processors().empty() ? -1 : kernel.processors()[0];
  int64_t elsewhere = here == 0 ? 3 : 0;
  std::string of = "tensor " + s.A.name() + ": ";
  EXPECT_EQ(message_of([&] { s.A.bind(77, buffer.data()); }),
            of + "a buffer is bound for processor 77, and the machine has 4 processors");
  EXPECT_EQ(message_of([&] { s.A.bind(elsewhere, buffer.data()); }),
            of + "processor " + std::to_string(elsewhere) + " is another rank's");
  for (int run = 0; run < 3; ++run) kernel.run();  // the refused buffers have no effect
  if (here < 0) return;
  EXPECT_EQ(message_of([&] { s.A.bind(here, static_cast<double*>(nullptr)); }),
            of + "the buffer for processor " + std::to_string(here) + " is null");
}

// Three rows on four processors: the last one owns none, and binds empty buffers.
TEST(MpiKernel, TakesEmptyBuffersOfProcessorsWithoutAPiece) {
  Machine line{Grid(4)};
  Format rows({Dense, Dense}, Distribution(line, {0}));
  Tensor<double> A({3, 5}, rows), B({3, 2}, rows), C({2, 5}, rows);
  IndexVar i, j, k, io, ii, ko, ki;
  A(i, j) = B(i, k) * C(k, j);
  A.schedule().distribute({i}, {io}, {ii}, line).divide(k, ko, ki, 4).reorder({io, ko, ii, ki, j}).communicate(C, ko);
  MpiKernel kernel(A.compile(), MPI_COMM_WORLD);
  std::map<int64_t, std::vector<double>> a, b, c;  // by processor
  for (int64_t p : kernel.processors()) {
    a[p].resize(p < 3 ? 5 : 0);
    b[p].resize(p < 3 ? 2 : 0);
    c[p].resize(p < 2 ? 5 : 0);
    A.bind(p, a[p]);
    B.bind(p, b[p]);
    C.bind(p, c[p]);
  }
  fill(B, 1);
  fill(C, 2);
  for (int run = 0; run < 3; ++run) kernel.run();
  expect_own_product(A, 2, 1, 2);
  for (int64_t p : kernel.processors()) A.bind(p, a[p]);  // the pieces exist already
  kernel.run();
  expect_own_product(A, 2, 1, 2);
}

// Before the run only one rank knows of the wrong buffer.
TEST(MpiKernel, RefusesOnAllRanksABufferOfOneRank) {
  Summa s;
  MpiKernel kernel(s.A.compile(), MPI_COMM_WORLD);
  std::vector<double> small(1);
  if (this_rank() == 0) s.A.bind(0, small);
  EXPECT_EQ(message_of([&] { kernel.run(); }),
            "tensor " + s.A.name() + ": the buffer for processor 0 has 1 elements, and its piece reaches over 20");
}

// From rows to tiles, and from tiles to a tensor on one processor.
TEST(MpiKernel, RedistributesByACopy) {
  constexpr int64_t kRows = 11, kColumns = 7;
  Format rows({Dense, Dense}, Distribution(Machine(Grid(4)), {0}));
  Format tiles({Dense, Dense}, {1, 0}, Distribution(Machine(Grid(2, 2)), {1, 0}));
  Tensor<double> A({kRows, kColumns}, rows), T({kRows, kColumns}, tiles), all("all", {kRows, kColumns});
  MpiKernel to_tiles(T.copy_kernel(A), MPI_COMM_WORLD), to_one(all.copy_kernel(T), MPI_COMM_WORLD);
  fill(A, 3);
  EXPECT_EQ(to_tiles.run().bytes_moved, T.copy_kernel(A).cost().bytes_moved);
  to_one.run();
  for (Tensor<double>* copy : {&T, &all}) {
    copy->for_each([](const std::vector<int64_t>& at, double& got) { ASSERT_EQ(got, value_of(at, 3)); });
  }
  // What one rank has, it can write alone.
  TemporaryFile gathered("gathered");
  if (this_rank() == 0) {
    all.save(gathered.path());
    Tensor<double> read({kRows, kColumns});
    read.load(gathered.path());
    read.for_each([](const std::vector<int64_t>& at, double& got) { ASSERT_EQ(got, value_of(at, 3)); });
  } else {
    EXPECT_EQ(message_of([&] { all.save(gathered.path()); }), "tensor all is spread over ranks");
  }
}

// Rows are written by all ranks, and read as tiles by all ranks.
TEST(MpiKernel, LoadsAndSavesOnAllRanks) {
  constexpr int64_t kRows = 11, kColumns = 7;
  Format rows({Dense, Dense}, Distribution(Machine(Grid(4)), {0}));
  Format tiles({Dense, Dense}, {1, 0}, Distribution(Machine(Grid(2, 2)), {1, 0}));
  Tensor<double> A({kRows, kColumns}, rows), T({kRows, kColumns}, tiles), whole({kRows, kColumns});
  MpiKernel spread(T.copy_kernel(A), MPI_COMM_WORLD);
  fill(A, 5);
  TemporaryFile file("spread"), other("whole");
  save(A, file.path(), MPI_COMM_WORLD);
  load(T, file.path(), MPI_COMM_WORLD);
  T.for_each([](const std::vector<int64_t>& at, double& got) { ASSERT_EQ(got, value_of(at, 5)); });
  // Before a kernel spreads it, every rank has the whole tensor. One writes it.
  load(whole, file.path(), MPI_COMM_WORLD);
  save(whole, other.path(), MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(text_of(file.path()), text_of(other.path()));

  Tensor<double> wrong({kRows, kColumns + 1}, rows);
  EXPECT_EQ(message_of([&] { load(wrong, file.path(), MPI_COMM_WORLD); }),
            file.path() + ": the file's shape is (11, 7), the tensor's is (11, 8)");
  EXPECT_EQ(message_of([&] { save(A, "/nonexistent/a.npy", MPI_COMM_WORLD); }),
            "'/nonexistent/a.npy' cannot be opened for writing");
  EXPECT_EQ(message_of([&] { save(A, file.path(), MPI_COMM_NULL); }),
            "a kernel is to run on no communicator (MPI_COMM_NULL)");
}

TEST(MpiKernel, RefusesNoCommunicator) {
  Summa s;
  EXPECT_EQ(error_of([&] { MpiKernel(s.A.compile(), MPI_COMM_NULL); }),
            "error: a kernel is to run on no communicator (MPI_COMM_NULL)\n"
            "  help: a process that is not in a communicator takes no part in what is done on it");
}

TEST(MpiKernel, RefusesToWriteWhereItReads) {
  Machine line{Grid(2)};
  Format rows({Dense, Dense}, Distribution(line, {0}));
  Tensor<double> A("A", {4, 3}, rows), B("B", {4, 3}, rows);
  IndexVar i, j, io, ii;
  A(i, j) = B(i, j);
  A.schedule().distribute({i}, {io}, {ii}, line);
  MpiKernel kernel(A.compile(), MPI_COMM_WORLD);
  std::vector<double> memory(6);
  for (int64_t p : kernel.processors()) {
    if (p > 0) continue;
    A.bind(p, memory);
    B.bind(p, memory);
  }
  EXPECT_EQ(message_of([&] { kernel.run(); }),
            "tensor A is written, and its piece of processor 0 lies in the same memory as that of processor 0 of "
            "tensor B");
}

TEST(MpiKernel, ComparesStatementsParamsAndOptionsOfRanks) {
  std::string differ = "the statements, params and options of rank 1 differ from those of rank 0";
  bool is_second = this_rank() == 1;
  Summa s;
  MpiKernel kernel(s.A.compile(), MPI_COMM_WORLD);
  s.ni = is_second ? 8 : 7;
  EXPECT_EQ(
      error_of([&] { kernel.run(); }),
      "error: " + differ + "\n  help: rank 1 has `param p1 = 8`, rank 0 has `param p1 = 7`; give all ranks the same");
  s.ni = 7;
  kernel.run();

  Tensor<double> D({s.ni, s.nj}, s.f), E({s.ni, s.nj}, s.f);
  IndexVar i, j;
  if (is_second) {
    D(i, j) = E(i, j) + E(i, j);
  } else {
    D(i, j) = E(i, j) - E(i, j);
  }
  EXPECT_EQ(message_of([&] { MpiKernel(D.compile(), MPI_COMM_WORLD); }), differ);
  IndexVar io, ii;
  E(i, j) = s.A(i, j);
  is_second ? E.schedule().divide(i, io, ii, 3) : E.schedule().split(i, io, ii, 3);
  EXPECT_EQ(message_of([&] { MpiKernel(E.compile(), MPI_COMM_WORLD); }), differ);
  Format face({Dense, Dense}, Distribution(s.m, {0, Face(is_second ? 1 : 0)}));
  Tensor<double> F({s.ni, s.nj}, face);
  F(i, j) = s.A(i, j);
  EXPECT_EQ(message_of([&] { MpiKernel(F.compile(), MPI_COMM_WORLD); }), differ);
  RunOptions own;
  own.own_memory = is_second;  // one rank refuses, so all do
  EXPECT_EQ(message_of([&] { kernel.run(own); }),
            "own_memory is of the threads engine; ranks have memory of their own");
  EXPECT_EQ(message_of([&] { kernel.run({.threads = is_second ? -1 : 1}); }),
            "a run on -1 threads; give 1 to 4096, or 0 for one per core");
  Tensor<double> G("G", {s.ni}, Format({Dense}, Distribution(Machine{Grid(2)}, {0}, Memory::GPU_MEM))), H({s.ni});
  G(i) = H(i);
  EXPECT_EQ(message_of([&] { MpiKernel(G.compile(), MPI_COMM_WORLD).run(); }),
            "tensor G lives in gpu memory, and the mpi engine has none");
  RunOptions strict;
  strict.strict_order = is_second;
  EXPECT_EQ(error_of([&] { kernel.run(strict); }),
            "error: " + differ +
                "\n  help: rank 1 has `in strict order`, rank 0 has `in any order`; give all ranks the same");
}

// When the MpiKernel is made, only rank 0 has allocated its pieces.
TEST(MpiKernel, RefusesOnAllRanksATensorThatOneRankHasOtherwise) {
  Summa s;
  MpiKernel kernel(s.A.compile(), MPI_COMM_WORLD);
  if (this_rank() == 0) s.A.pieces();
  Tensor<double> D({s.ni, s.nj}, Format({Dense, Dense}, Distribution(Machine(Grid(3, 3)), {0, 1})));
  IndexVar i, j;
  D(i, j) = s.A(i, j);
  EXPECT_EQ(
      error_of([&] { MpiKernel(D.compile(), MPI_COMM_WORLD); }),
      "error: tensor " + s.A.name() +
          " is spread over the ranks in another way, by another kernel\n"
          "  help: kernels that share a tensor need machines of equally many processors, which communicate at the "
          "same levels");
  fill(s.B, 1);
  fill(s.C, 2);
  kernel.run();
  expect_own_product(s.A, 11, 1, 2);
}

TEST(MpiKernel, RunsOnAnotherGridAfterParamsChange) {
  Summa s;
  MpiKernel kernel(s.A.compile(), MPI_COMM_WORLD);
  kernel.run();
  int64_t before = 4;
  for (int64_t gx : {3, 1, 2}) {
    s.gx = gx;
    EXPECT_EQ(error_of([&] { fill(s.B, 1); }),
              "error: tensor " + s.B.name() + " is spread over ranks as " + std::to_string(before) +
                  " processors, and its machine has " + std::to_string(2 * gx) +
                  " now\n  help: after such a change call processors() of its kernel first");
    before = 2 * gx;
    kernel.processors();
    fill(s.B, 1);
    fill(s.C, 2);
    kernel.run();
    expect_own_product(s.A, 11, 1, 2);
  }
}

// Generated names differ on a rank that made other objects before.
TEST(MpiKernel, IgnoresGeneratedNames) {
  std::vector<std::unique_ptr<Summa>> others;
  for (int n = 0; n < 5 * this_rank(); ++n) others.push_back(std::make_unique<Summa>());
  Summa s;
  MpiKernel kernel(s.A.compile(), MPI_COMM_WORLD);
  fill(s.B, 1);
  fill(s.C, 2);
  kernel.run();
  expect_own_product(s.A, 11, 1, 2);
}

// Ends the job when a test fails, as the other ranks would wait for this one.
class EndsTheJob : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& info) override {
    if (!info.result()->Failed()) return;
    std::fprintf(stderr, "rank %d failed in %s\n", this_rank(), info.name());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
};

// Whether making a kernel fails with exactly this text.
bool fails_with(const std::string& wanted) {
  Summa s;
  std::string said = error_of([&] { MpiKernel(s.A.compile(), MPI_COMM_WORLD); });
  if (said != wanted) std::fprintf(stderr, "said: %s\n", said.c_str());
  return said == wanted;
}

// The errors before MPI is initialised, with MPI for one thread only, and after MPI is finalised.
int without_threads(int argc, char** argv) {
  std::string between = "\n  help: an MpiKernel is made and run between MPI_Init_thread and MPI_Finalize";
  bool right = fails_with("error: MPI was not initialised" + between);
  MPI_Init(&argc, &argv);
  right = fails_with(
              "error: MPI was initialised for one thread, and DISTAL has another one that drives messages\n"
              "  help: call MPI_Init_thread with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE") &&
          right;
  MPI_Finalize();
  return fails_with("error: MPI was finalised" + between) && right ? 0 : 1;
}

// An application that catches every exception. One of its ranks has no memory for a thread. DISTAL must end the job, as
// the other ranks wait for this one.
int fails_alone() {
  Summa s;
  Kernel made = s.A.compile();
  MpiKernel first(made, MPI_COMM_WORLD), kernel(made, MPI_COMM_WORLD);
  first.run();  // loads all libraries
  if (this_rank() == 1) {
    rlimit little{};
    getrlimit(RLIMIT_AS, &little);
    std::ifstream("/proc/self/statm") >> little.rlim_cur;  // what it has now, in pages
    little.rlim_cur *= static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
    setrlimit(RLIMIT_AS, &little);
  }
  try {
    kernel.run();
  } catch (...) {
    std::this_thread::sleep_for(std::chrono::seconds(30));
  }
  return 0;
}

// Assigns the ranks to two nodes in turn.
void deal_out_to_nodes() { setenv("DISTAL_MPI_NODE", this_rank() % 2 == 0 ? "even" : "odd", 1); }

}  // namespace

}  // namespace distal

// mpi_api_test [without-threads|fails|dealt] [OPTION OF GTEST...]
int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "without-threads") == 0) {
    return distal::without_threads(argc, argv);
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  if (argc > 1 && std::strcmp(argv[1], "fails") == 0) return distal::fails_alone();
  if (argc > 1 && std::strcmp(argv[1], "dealt") == 0) distal::deal_out_to_nodes();
  distal::Summa s;
  distal::MpiKernel outlives_mpi(s.A.compile(), MPI_COMM_WORLD);
  outlives_mpi.run();
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new distal::EndsTheJob);
  int status = RUN_ALL_TESTS();
  MPI_Finalize();
  return status;
}
