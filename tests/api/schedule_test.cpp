// The whole scheduling language in C++, and compound schedules.

#include <distal/distal.h>
#include <gtest/gtest.h>

#include <limits>

#include "api/errors.h"
#include "lang/parse.h"

namespace distal {
namespace {

template <class T>
void fill(Tensor<T>& tensor, int64_t salt) {
  tensor.fill([salt](const std::vector<int64_t>& at) {
    int64_t sum = salt;
    for (int64_t x : at) sum = sum * 7 + x * x + 1;
    return static_cast<T>(sum % 11 - 5);
  });
}

struct Mttkrp {
  Param ni{6}, nj{5}, nk{7}, nl{4};
  Machine line{Grid(2)};
  Format rows{{Dense, Dense}, Distribution(line, {0})};
  Tensor<double> A{"A", {ni, nl}, rows};
  Tensor<double> B{"B", {ni, nj, nk}, Format({Dense, Dense, Dense}, Distribution(line, {0}))};
  Tensor<double> C{"C", {nj, nl}, Format({Dense, Dense}, Distribution(line, {Everywhere{}}))};
  Tensor<double> D{"D", {nk, nl}, Format({Dense, Dense}, Distribution(line, {Everywhere{}}))};
  IndexVar i{"i"}, j{"j"}, k{"k"}, l{"l"}, io{"io"}, ii{"ii"};

  Mttkrp() {
    A(i, l) = B(i, j, k) * C(j, l) * D(k, l);
    A.schedule().distribute({i}, {io}, {ii}, line).communicate({A, B, C, D}, io).reorder({ii, j, k, l});
  }

  void expect_right() {
    fill(B, 1);
    fill(C, 2);
    fill(D, 3);
    Kernel kernel = A.compile();
    EXPECT_EQ(core::to_string(core::parse_module(kernel.text(), "text")), kernel.text());
    RunReport report = kernel.run();
    EXPECT_EQ(report.bytes_moved, kernel.cost().bytes_moved);
    A.for_each([&](const std::vector<int64_t>& at, double value) {
      double want = 0;
      for (int64_t x = 0; x < nj.value(); ++x) {
        for (int64_t y = 0; y < nk.value(); ++y) want += B.at({at[0], x, y}) * C.at({x, at[1]}) * D.at({y, at[1]});
      }
      EXPECT_EQ(value, want);
    });
  }
};

TEST(ApiSchedule, NoneIsNotAnEmptyOne) {
  Tensor<double> A("A", {4}), B("B", {4});
  IndexVar i("i");
  std::string text = "tensor A(4)\ntensor B(4)\n\nA(i) = B(i)\n";
  A(i) = B(i);
  EXPECT_EQ(A.compile().text(), text);
  A.schedule();
  EXPECT_EQ(A.compile().text(), text + "\nschedule\n");
  A(i) = B(i);
  EXPECT_EQ(A.compile().text(), text) << "the schedule was that of the old statement";
  Schedule& schedule = A.schedule();
  A(i) = B(i);
  schedule.unroll(i, 2);
  EXPECT_EQ(A.compile().text(), text + "\nschedule\n  unroll(i, 2)\n");
}

TEST(ApiSchedule, PrecomputesIntoAPrivateWorkspace) {
  Mttkrp m;
  IndexVar lw("lw");
  m.A.schedule().precompute(m.B(m.i, m.j, m.k) * m.D(m.k, m.l), {m.l}, {lw}, "W").vectorize(lw).unroll(m.l, 2);
  m.expect_right();
  EXPECT_NE(m.A.compile().program().find("fill W [k, lw] vectorize lw: W(lw) += B(i, j, k) * D(k, lw)"),
            std::string::npos);
}

TEST(ApiSchedule, PrecomputesIntoATensorWithAHome) {
  Param ni(6), n(5);
  Machine line{Grid(2)};
  Format rows({Dense, Dense}, Distribution(line, {0})), everywhere({Dense, Dense}, Distribution(line, {Everywhere{}}));
  Tensor<double> A("A", {ni, n}, rows), B("B", {ni, n}, rows), C("C", {n, n}, everywhere), D("D", {n, n}, everywhere);
  Tensor<double> W("W", {ni, n}, rows);
  IndexVar i("i"), j("j"), k("k"), l("l"), iw("iw"), lw("lw"), io("io"), ii("ii"), iwo("iwo"), iwi("iwi");
  A(i, j) = B(i, k) * C(k, l) * D(l, j);
  A.schedule()
      .precompute(B(i, k) * C(k, l), {i, l}, {iw, lw}, W)
      .distribute({iw}, {iwo}, {iwi}, line)
      .communicate({W, B, C}, iwo)
      .distribute({i}, {io}, {ii}, line)
      .communicate({A, W, D}, io);
  fill(B, 1);
  fill(C, 2);
  fill(D, 3);
  Kernel kernel = A.compile();
  EXPECT_EQ(kernel.cost().bytes_moved, 0) << "W stays where it was produced";
  kernel.run();
  W.for_each([&](const std::vector<int64_t>& at, double value) {
    double want = 0;
    for (int64_t x = 0; x < n.value(); ++x) want += B.at({at[0], x}) * C.at({x, at[1]});
    EXPECT_EQ(value, want);
  });
  A.for_each([&](const std::vector<int64_t>& at, double value) {
    double want = 0;
    for (int64_t x = 0; x < n.value(); ++x) want += W.at({at[0], x}) * D.at({x, at[1]});
    EXPECT_EQ(value, want);
  });
}

TEST(ApiSchedule, SumsInParallel) {
  for (OutputRace race : {OutputRace::Reduction, OutputRace::Atomics}) {
    Mttkrp m;
    m.A.schedule().reorder({m.ii, m.l, m.j, m.k}).parallelize(m.j, race);
    m.expect_right();
  }
  Mttkrp m;
  m.A.schedule().parallelize(m.j);
  EXPECT_EQ(message_of([&] { m.A.compile(); }),
            "parallelize: loop j sums over j, and its iterations would add to the same element of A at once; use "
            "parallelize(j, reduction) or parallelize(j, atomics), or parallelize a loop that indexes A");
}

struct Gemm {
  Param n{"n", 8}, g{"g", 2}, chunk{"chunk", 3};
  Machine m{Grid(g, g), "M"};
  Format tiles{{Dense, Dense}, Distribution(m, {0, 1})};
  Tensor<double> A{"A", {n, n}, tiles}, B{"B", {n, n}, tiles}, C{"C", {n, n}, tiles};
  IndexVar i{"i"}, j{"j"}, k{"k"}, io{"io"}, jo{"jo"}, ko{"ko"}, ii{"ii"}, ji{"ji"}, ki{"ki"}, r{"r"};
  Gemm() { A(i, j) = B(i, k) * C(k, j); }
  std::string schedule() const {
    std::string text = A.compile().text();
    return text.substr(text.find("schedule\n"));
  }
};

TEST(ApiSchedule, CompoundSchedulesAreFunctionsOverCommands) {
  Gemm summa;
  summa.A.schedule()
      .apply(compound::stationary, summa.A, std::vector{summa.i, summa.j}, std::vector{summa.io, summa.jo},
             std::vector{summa.ii, summa.ji}, summa.m)
      .apply(compound::chunked, std::vector<TensorHandle>{summa.B, summa.C}, summa.k, summa.ko, summa.ki, summa.chunk,
             std::vector{summa.ii, summa.ji});
  EXPECT_EQ(summa.schedule(),
            "schedule\n  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  communicate(A, jo)\n  split(k, ko, ki, chunk)\n"
            "  reorder({ko, ii, ji, ki})\n  communicate({B, C}, ko)\n");

  Gemm cannon;
  cannon.A.schedule()
      .apply(compound::stationary, cannon.A, std::vector{cannon.i, cannon.j}, std::vector{cannon.io, cannon.jo},
             std::vector{cannon.ii, cannon.ji}, cannon.m)
      .apply(compound::systolic, std::vector<TensorHandle>{cannon.B, cannon.C}, cannon.k, cannon.ko, cannon.ki,
             cannon.m.x, std::vector{cannon.ii, cannon.ji}, std::vector{cannon.io, cannon.jo}, cannon.r);
  EXPECT_EQ(cannon.A.compile().cost().tensors.at("B").pattern, "shift");

  Gemm own;
  own.A.schedule()
      .apply(compound::tile, own.i, own.j, own.io, own.jo, own.ii, own.ji, 4, 2)
      .communicate({own.A, own.B, own.C}, own.jo)
      .apply([](Schedule& s, const IndexVar& v) { s.unroll(v, 2); }, own.ji);
  fill(own.B, 1);
  fill(own.C, 2);
  own.A.compile().run();
  double want = 0;
  for (int64_t x = 0; x < 8; ++x) want += own.B.at({3, x}) * own.C.at({x, 6});
  EXPECT_EQ(own.A.at({3, 6}), want);
}

// Substitutes each kernel, by its name in C++, for the innermost loops of a matrix product in a suitable order.
TEST(ApiSchedule, KernelsByName) {
  auto run = [](const std::string& name, const LeafKernelName& kernel, auto order, size_t loops) {
    Gemm g;
    std::vector<IndexVar> all = order(g);
    g.A.schedule().reorder(all).substitute({all.end() - static_cast<std::ptrdiff_t>(loops), all.end()}, kernel);
    EXPECT_NE(g.schedule().find(", " + name + ")"), std::string::npos) << g.schedule();
    fill(g.B, 1);
    fill(g.C, 2);
    g.A.compile().run();
    double want = 0;
    for (int64_t x = 0; x < 8; ++x) want += g.B.at({3, x}) * g.C.at({x, 6});
    EXPECT_EQ(g.A.at({3, 6}), want) << name;
  };
  run(
      "gemm", BLAS::GeMM,
      [](const Gemm& g) {
        return std::vector{g.i, g.j, g.k};
      },
      3);
  run(
      "gemv", BLAS::GeMV,
      [](const Gemm& g) {
        return std::vector{g.i, g.j, g.k};
      },
      2);
  run(
      "ger", BLAS::GeR,
      [](const Gemm& g) {
        return std::vector{g.k, g.i, g.j};
      },
      2);
  run(
      "dot", BLAS::Dot,
      [](const Gemm& g) {
        return std::vector{g.i, g.j, g.k};
      },
      1);
  run(
      "axpy", BLAS::AXPY,
      [](const Gemm& g) {
        return std::vector{g.i, g.k, g.j};
      },
      1);
}

TEST(ApiSchedule, KernelsOfOneMatrixAndOfBatches) {
  IndexVar b, i, j, k;
  Tensor<double> S({5, 5}), B({5, 7}), A({3, 4, 5}), L({3, 4, 7}), R({3, 7, 5});
  fill(B, 1);
  fill(L, 2);
  fill(R, 3);
  S(i, j) = B(i, k) * B(j, k);
  S.schedule().substitute({i, j, k}, BLAS::SyRK);
  A(b, i, j) = L(b, i, k) * R(b, k, j);
  A.schedule().substitute({b, i, j, k}, BLAS::BatchedGeMM);
  Kernel({S, A}).run();
  double square = 0, batched = 0;
  for (int64_t x = 0; x < 7; ++x) {
    square += B.at({1, x}) * B.at({4, x});
    batched += L.at({2, 1, x}) * R.at({2, x, 3});
  }
  EXPECT_EQ(S.at({1, 4}), square);
  EXPECT_EQ(S.at({4, 1}), square);
  EXPECT_EQ(A.at({2, 1, 3}), batched);
}

TEST(ApiParams, AssignmentTakesTheValue) {
  Param gx("gx", 1), gy("gy", 1);
  Machine m{Grid(gx, gy)};
  gx = gy = 3;
  EXPECT_EQ(m.levels()[0].extents()[0].value(), 3);
  EXPECT_EQ(m.levels()[0].extents()[1].value(), 3);
  Param other(7);
  gx = other;
  other = 8;
  EXPECT_EQ(gx.value(), 7);
  EXPECT_EQ(gx.name(), "gx");
}

TEST(ApiParams, ANewSizeBeginsAtZero) {
  Param n(3);
  Tensor<double> a({n});
  a.fill([](const auto&) { return 5.0; });
  n = 4;
  a.for_each([](const auto&, double value) { EXPECT_EQ(value, 0); });
}

TEST(ApiBuffers, BindingOneKeepsTheOthers) {
  Machine line{Grid(2)};
  Tensor<double> a({6}, Format({Dense}, Distribution(line, {0})));
  a.fill([](const auto& at) { return static_cast<double>(at[0]); });
  std::vector<double> first{10, 11, 12};
  a.bind(0, first);
  EXPECT_EQ(a.at({1}), 11);
  EXPECT_EQ(a.at({4}), 4);
}

TEST(ApiBuffers, OverlappingElementsAreRefused) {
  Tensor<double> A("A", {4, 3});
  std::vector<double> memory(40);
  auto refuses = [&](std::vector<int64_t> strides) {
    std::string said = error_of([&] {
      A.bind(0, memory, strides);
      A.pieces();
    });
    EXPECT_EQ(said, "error: tensor A: the buffer for processor 0 has strides (" + std::to_string(strides[0]) + ", " +
                        std::to_string(strides[1]) +
                        "), with which two elements of its piece of (4, 3) would be one\n  help: from column to column "
                        "it is at least as far as there are rows in the piece, or the other way");
  };
  refuses({1, 3});  // four rows
  refuses({2, 1});  // three columns
  refuses({0, 1});
  refuses({3, 6});
  for (const std::vector<int64_t>& strides : {std::vector<int64_t>{1, 4}, {3, 1}, {5, 2}, {2, 9}, {4, 5}, {3, 11}}) {
    A.bind(0, memory, strides);
    A.fill([](const std::vector<int64_t>& at) { return 10.0 * at[0] + at[1]; });
    A.for_each([&](const std::vector<int64_t>& at, double& got) { EXPECT_EQ(got, 10.0 * at[0] + at[1]); });
  }
}

TEST(ApiBuffers, StridesThatLeaveAllMemoryAreRefused) {
  Tensor<double> A("A", {4, 3});
  std::vector<double> memory(12);
  for (int64_t stride : {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    A.bind(0, memory.data(), {stride, 1});
    EXPECT_EQ(error_of([&] { A.pieces(); }),
              "error: tensor A: the buffer for processor 0 has strides (" + std::to_string(stride) +
                  ", 1), which lead out of any memory\n  help: strides count in elements");
  }
  A.bind(0, memory.data(), {int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_EQ(message_of([&] { A.pieces(); }).substr(0, 53), "tensor A: the buffer for processor 0 has strides (109");
  A.bind(-1, memory.data());
  EXPECT_EQ(message_of([&] { A.pieces(); }).substr(0, 54), "tensor A: the buffer for processor 0 has strides (1099");
  A.bind(0, memory);
  EXPECT_EQ(message_of([&] { A.pieces(); }),
            "tensor A: a buffer is bound for processor -1, and the machine has 1 processor");
  A.bind(-1, static_cast<double*>(nullptr));
  EXPECT_EQ(A.pieces().size(), 1U) << "the buffer was withdrawn";
}

TEST(ApiBuffers, StridesThatLeaveTheBufferAreRefused) {
  Tensor<double> A("A", {4, 3});
  std::vector<double> memory(12);
  EXPECT_EQ(error_of([&] {
              A.bind(0, memory, {1, -4});
              A.pieces();
            }),
            "error: tensor A: the buffer for processor 0 is left by strides (1, -4): 8 elements of its piece would lie "
            "before it\n  help: with a pointer in place of a span, a buffer may begin in the middle");
  A.bind(0, memory.data() + 8, {1, -4});
  A.set({3, 2}, 7);
  EXPECT_EQ(memory[3], 7);
}

// Interleaved buffers do not overlap.
TEST(ApiBuffers, WrittenBuffersMustNotOverlap) {
  Tensor<double> A("A", {4}), B("B", {4}), C("C", {4});
  IndexVar i;
  A(i) = B(i) * C(i);
  Kernel kernel = A.compile();
  std::vector<double> memory(8, 3);
  std::span<double> all(memory);
  std::string same =
      "tensor A is written, and its piece of processor 0 lies in the same memory as that of processor 0 "
      "of tensor B";
  A.bind(0, all.subspan(0, 4));
  for (size_t begin : {0, 1, 3}) {
    B.bind(0, all.subspan(begin, 4));
    EXPECT_EQ(error_of([&] { kernel.run(); }), "error: " + same + "\n  help: bind other memory to one of them");
  }
  B.bind(0, all.subspan(4));
  C.bind(0, all.subspan(4));  // B and C are only read
  kernel.run();
  EXPECT_EQ(memory[3], 9);
  B.bind(0, all.subspan(1), {2});
  A.bind(0, all.subspan(0, 7), {2});
  C.bind(0, all.subspan(1), {2});
  kernel.run();
  EXPECT_EQ(memory, (std::vector<double>{81, 9, 81, 9, 9, 3, 9, 3}));
  B.bind(0, all.subspan(0, 4));
  EXPECT_EQ(message_of([&] { kernel.run(); }), same);
}

TEST(ApiBuffers, SmallBuffersAreRefused) {
  Machine line{Grid(2)};
  Tensor<double> A("A", {5, 4}, Format({Dense, Dense}, Distribution(line, {0})));
  std::vector<double> first(12), second(7);
  A.bind(0, first);
  A.bind(1, second);
  EXPECT_EQ(message_of([&] { A.pieces(); }),
            "tensor A: the buffer for processor 1 has 7 elements, and its piece reaches over 8");
  second.resize(9);
  A.bind(1, second, {5, 1});
  A.set({4, 3}, 7);
  EXPECT_EQ(second[8], 7);
}

}  // namespace
}  // namespace distal
