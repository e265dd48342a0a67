#include <distal/distal.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/errors.h"
#include "api/summa.h"
#include "lang/parse.h"

namespace distal {
namespace {

TEST(Api, CountsWhatItsCostSays) {
  Summa s;
  fill(s.B, 1);
  fill(s.C, 2);
  Kernel kernel = s.A.compile();
  Cost cost = kernel.cost();
  RunReport report = kernel.run();
  expect_product(s.A, s.B, s.C);
  EXPECT_EQ(report.bytes_moved, cost.bytes_moved);
  EXPECT_EQ(report.messages, cost.messages);
  EXPECT_EQ(cost.tensors.at(s.B.name()).pattern, "broadcast");
  EXPECT_EQ(cost.processors, 4);
}

TEST(Api, DrawsWhatItsCostSays) {
  Summa s;
  Kernel kernel = s.A.compile();
  auto picture = nlohmann::json::parse(kernel.picture());
  EXPECT_EQ(picture["bytes_moved"], kernel.cost().bytes_moved);
  EXPECT_EQ(picture["title"], picture["statements"][0]["text"]);
  EXPECT_TRUE(kernel.page().starts_with("<!doctype html>"));
}

TEST(Api, RefusesAViewThatAPictureDoesNotHave) {
  Summa s;
  std::string picture = s.A.compile().picture();
  auto refuse = [&](const PictureView& view, const std::string& text) {
    EXPECT_EQ(message_of([&] { svg(picture, view); }), text);
  };
  auto with = [](auto change) {
    PictureView view;
    change(view);
    return view;
  };
  refuse(with([](PictureView& v) { v.name = "movie"; }), "view movie: there is no such view");
  refuse(with([](PictureView& v) { v.step = 9; }), "step 9: the program has 4 steps, numbered from 1");
  refuse(with([](PictureView& v) { v.processor = 4; }), "processor 4: the machine has 4 processors, numbered from 0");
  refuse(with([](PictureView& v) { v.axes = {"q", "i"}; }), "axes q,i: q is no index of the statement");
  EXPECT_EQ(message_of([&] { svg("no picture"); }), "svg: this text is no picture");
}

TEST(Api, PrintsAsAProgramThatParsesBack) {
  Summa s;
  std::string text = s.A.compile().text();
  core::Module module = core::parse_module(text, "text");
  EXPECT_EQ(core::to_string(module), text);
  EXPECT_EQ(module.statements.size(), 1u);
  EXPECT_EQ(module.statements[0].schedule.size(), 6u);
}

// B lies in rows on a line of six processors, one of which idles where the tiles of A are computed.
TEST(Api, TensorsLieOnDifferentGridsOfTheSameProcessors) {
  Param count("count", 6);
  Machine tiles(Processors(count), "T"), line(Processors(count), "L");
  EXPECT_FALSE(line.has_grid());
  tiles.as(Grid(5));
  EXPECT_TRUE(tiles.has_grid());
  Tensor<double> A("A", {10, 4}, Format({Dense, Dense}, Distribution(tiles, {0}))),
      B("B", {10, 4}, Format({Dense, Dense}, Distribution(line, {0}))), C("C", {10, 4}, Format(line));
  IndexVar i("i"), j("j"), io("io"), ii("ii");
  A(i, j) = B(i, j) * C(i, j);
  A.schedule().distribute({i}, {io}, {ii}, tiles).communicate({A, B, C}, io);
  fill(B, 1);
  fill(C, 2);
  Kernel kernel = A.compile();
  std::string text = kernel.text();
  EXPECT_NE(text.find("machine T = count processors as Grid(5)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("machine L = count processors\n"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor C(10, 4) : xy -> x on L\n"), std::string::npos) << text;
  EXPECT_EQ(core::to_string(core::parse_module(text, "text")), text);
  EXPECT_EQ(kernel.cost().processors, 6);
  kernel.run();
  for (int64_t x = 0; x < 10; ++x) EXPECT_EQ(A.at({x, 3}), B.at({x, 3}) * C.at({x, 3}));
}

TEST(Api, OnlyProcessorsWithoutAGridTakeOne) {
  Machine m(Grid(2), "M");
  EXPECT_EQ(message_of([&] { m.as(Grid(2)); }),
            "machine M has a grid already; only Processors without one are given a grid");
}

// The targets go onto a grid by roles, like the dimensions of a tensor.
TEST(Api, DistributesByNotation) {
  Param face("face", 1), block("block", 2);
  Machine m({Grid(std::vector<Int>{2, 3, 2}), Grid(2)}, "M");
  Tensor<double> A("A", {6, 6}, Format({Dense, Dense}, Distribution::hierarchical(m, {{0, 1, Face{0}}, {0}}))),
      B("B", {6, 6});
  IndexVar i("i"), j("j"), io("io"), jo("jo"), ii("ii"), ji("ji"), iio("iio"), iii("iii");
  A(i, j) = B(i, j);
  A.schedule()
      .distribute({i, j}, {io, jo}, {ii, ji}, Onto(m[0], {1, 0, Face{face}}).cyclic(1, block))
      .distribute({ii}, {iio}, {iii}, Onto(A, 1))
      .communicate({A, B}, jo);
  fill(B, 1);
  Kernel kernel = A.compile();
  EXPECT_NE(kernel.text().find(fmt::format("x, y -> y, x, ({}) cyclic(y = {}) on M[0])", face.name(), block.name())),
            std::string::npos)
      << kernel.text();
  EXPECT_NE(kernel.text().find("distribute({ii}, {iio}, {iii}, A[1])"), std::string::npos) << kernel.text();
  kernel.run();
  for (int64_t x = 0; x < 6; ++x) EXPECT_EQ(A.at({x, 5 - x}), B.at({x, 5 - x}));
}

TEST(Api, OneKernelManySizes) {
  Summa s;
  Kernel kernel = s.A.compile();
  for (int64_t n : {5, 16, 3}) {
    s.ni = n;
    s.nk = 2 * n + 1;
    fill(s.B, static_cast<double>(n));
    fill(s.C, 4);
    kernel.run();
    expect_product(s.A, s.B, s.C);
  }
  s.gx = 3;
  s.gy = 1;
  fill(s.B, 9);
  fill(s.C, 8);
  kernel.run({1, true});
  expect_product(s.A, s.B, s.C);
}

TEST(Api, UsesTheCallersBuffersWhereTheyLie) {
  // Rows of B in the caller's buffers with a gap after each row, C and A dense; multiplied by a 2.5D schedule.
  Param n(8), g(2), c(2);
  Machine cube(Grid(g, g, c));
  Format rows({Dense, Dense}, Distribution(cube, {0, Face{0}, Face{0}}));
  Tensor<double> A({n, n}, rows), B({n, n}, rows), C({n, n}, rows);
  IndexVar i, j, k, io, jo, ko, ii, ji, ki, kio, kii, kios;
  A(i, j) = B(i, k) * C(k, j);
  A.schedule()
      .distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, cube)
      .divide(ki, kio, kii, ceildiv(g, c))
      .reorder({kio, ii, ji, kii})
      .rotate(kio, {io, jo}, kios)
      .communicate(A, jo)
      .communicate({B, C}, kios)
      .substitute({ii, ji, kii}, BLAS::GeMM);
  constexpr int64_t kStep = 10;
  std::vector<double> first(4 * kStep, -77), second(4 * kStep, -77), result0(4 * 8, 5), result1(4 * 8, 6);
  int64_t second_row = 4;  // of the cube's processors: (1, 0, 0)
  B.bind(0, first.data(), {kStep, 1});
  B.bind(second_row, second.data(), {kStep, 1});
  A.bind(0, result0.data());
  A.bind(second_row, result1.data());
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t x = 0; x < 8; ++x) {
      first[r * kStep + x] = value_of({r, x}, 1);
      second[r * kStep + x] = value_of({r + 4, x}, 1);
    }
  }
  fill(C, 3);
  Kernel kernel = A.compile();
  RunReport report = kernel.run();
  expect_product(A, B, C);
  EXPECT_EQ(report.bytes_moved, kernel.cost().bytes_moved);
  EXPECT_EQ(result0[1], A.at({0, 1}));
  EXPECT_EQ(result1[8 + 2], A.at({5, 2}));
  EXPECT_EQ(first[8], -77) << "the gap between rows is the caller's";
}

TEST(Api, PiecesTellTheirRectangles) {
  Param n(10), p(2), q(2);
  Machine m(Grid(p, q));
  Distribution scalapack(m, {0, 1});
  scalapack.cyclic(0, 3).cyclic(1, 2);
  Tensor<double> T({n, n}, Format({Dense, Dense}, {1, 0}, scalapack));
  fill(T, 1);
  std::vector<PieceInfo> pieces = T.pieces();
  ASSERT_EQ(pieces.size(), 4u);
  EXPECT_EQ(pieces[0].extents, (std::vector<int64_t>{6, 6}));
  EXPECT_EQ(pieces[0].strides, (std::vector<int64_t>{1, 6}));
  EXPECT_EQ(pieces[3].extents, (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(pieces[0].rectangles[0], (Rectangle{{0, 0}, {3, 2}}));
  EXPECT_EQ(static_cast<double*>(pieces[3].data)[0], T.at({3, 2}));
}

TEST(Api, StatementsShareTensors) {
  Param n(6), g(3);
  Machine m(Grid(g), "M");
  Format rows({Dense, Dense}, Distribution(m, {0}));
  Tensor<double> A({n, n}, rows), B({n, n}, rows), C({n, n}, rows), D("D", {n, n}, rows), E({n, n}, rows);
  IndexVar i, j, k, io, ii, jo, ji;
  D(i, k) = A(i, j) * B(j, k);
  D.schedule().distribute({i}, {io}, {ii}, m).communicate({A, B, D}, io);
  IndexVar x, y, z, xo, xi;
  E(x, z) = D(x, y) * C(y, z);
  E.schedule().distribute({x}, {xo}, {xi}, D).communicate({E, D, C}, xo);
  fill(A, 1);
  fill(B, 2);
  fill(C, 3);
  Kernel kernel({D, E});
  kernel.run();
  expect_product(D, A, B);
  expect_product(E, D, C);
  EXPECT_EQ(kernel.cost().tensors.at(D.name()).bytes, 0) << "D stays where it was produced";
}

TEST(Api, ScalarsLiteralsAndAccumulation) {
  Param n(5);
  Tensor<double> a, b({n}), c({n});
  IndexVar i;
  fill(b, 1);
  fill(c, 2);
  a() = 2 * b(i) * c(i) - 3;
  a.compile().run();
  double want = -3;
  for (int64_t x = 0; x < 5; ++x) want += 2 * b.at({x}) * c.at({x});
  EXPECT_EQ(a.at({}), want);
  c(i) += b(i) * a;
  double before = c.at({2});
  c.compile().run();
  EXPECT_EQ(c.at({2}), before + b.at({2}) * want);
}

TEST(Api, AddsToNoStatementThatWaitsToBeCompiled) {
  Tensor<double> a("a", {Int(3)}), b("b", {Int(3)});
  IndexVar i;
  fill(b, 1);
  a(i) = b(i);
  for (const char* op : {"+=", "-="}) {
    EXPECT_EQ(message_of([&] { *op == '+' ? a(i) += b(i) : a(i) -= b(i); }),
              std::string("tensor a has a statement that no kernel was made of, and ") + op + " would replace it");
  }
  a.compile().run();
  a(i) += 2 * b(i);
  a.compile().run();
  EXPECT_EQ(a.at({2}), 3 * b.at({2}));
  a(i) = 5 * b(i);  // a statement may be replaced
  a(i) = 4 * b(i);
  a.compile().run();
  EXPECT_EQ(a.at({2}), 4 * b.at({2}));
}

TEST(Api, KernelsRunFromSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Summa>> sets;
  for (int t = 0; t < 3; ++t) sets.push_back(std::make_unique<Summa>());
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      fill(sets[t]->B, t);
      fill(sets[t]->C, t + 1);
      Kernel kernel = sets[t]->A.compile();
      for (int rep = 0; rep < 5; ++rep) kernel.run({2});
    });
  }
  for (std::thread& t : threads) t.join();
  for (const auto& s : sets) expect_product(s->A, s->B, s->C);
}

TEST(Api, SavesAndLoads) {
  Summa s;
  fill(s.B, 3);
  std::string file = ::testing::TempDir() + "distal_api_b.npy";
  s.B.save(file);
  Tensor<double> copy({s.ni, s.nk});
  copy.load(file);
  EXPECT_EQ(copy.at({6, 10}), s.B.at({6, 10}));
  Tensor<float> wrong({s.ni, s.nk});
  EXPECT_EQ(error_of([&] { wrong.load(file); }), "error: " + file + ": the file holds double, the tensor float");
  Tensor<double> other({s.nk, s.ni});
  EXPECT_EQ(error_of([&] { other.load(file); }),
            "error: " + file + ": the file's shape is (7, 11), the tensor's is (11, 7)");
}

TEST(Api, TensorsDefinedByOneAnotherEndWithTheirHandles) {
  Tensor<double> A("A", {4});
  IndexVar i("i");
  {
    Tensor<double> B("B", {4});
    A(i) = B(i);
    B(i) = A(i);
  }
  EXPECT_EQ(error_of([&] { A.compile(); }),
            "error: tensor A: a tensor of its statement is gone; keep it until the kernel is compiled");
}

// A run on GPUs is refused with the words of the command line. Everything that needs no GPU works.
TEST(Api, AnEngineWithoutGpusRefusesThem) {
  IndexVar i("i");
  Machine gpus{Grid(2).of(Processor::GPU)}, m{Grid(2)};
  Tensor<double> B("B", {4});
  auto kernel_of = [&](Tensor<double>& A) {
    A(i) = B(i);
    Kernel kernel = A.compile();
    EXPECT_EQ(kernel.cost().processors, 2);
    return kernel;
  };
  auto refusal = [](const Kernel& kernel) {
    try {
      kernel.run();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), Error::Kind::Resources);
      return e.message();
    }
    return std::string("no error");
  };
  Tensor<double> on_gpus("A", {4}, Format({Dense}, Distribution(gpus, {0})));
  EXPECT_EQ(refusal(kernel_of(on_gpus)), "Grid(2) gpu has gpu processors, and the threads engine has none");
  Tensor<double> in_gpu_memory("A", {4}, Format({Dense}, Distribution(m, {0}, Memory::GPU_MEM)));
  EXPECT_EQ(refusal(kernel_of(in_gpu_memory)), "tensor A lives in gpu memory, and the threads engine has none");
  IndexVar io("io"), ii("ii");
  Tensor<double> scheduled("A", {4});
  scheduled(i) = B(i);
  scheduled.schedule().distribute({i}, {io}, {ii}, gpus);
  EXPECT_EQ(refusal(scheduled.compile()), "Grid(2) gpu has gpu processors, and the threads engine has none");
}

TEST(Api, AnImpossibleNumberOfThreadsIsRefused) {
  Tensor<double> A("A", {4}), B("B", {4});
  IndexVar i;
  A(i) = B(i);
  Kernel kernel = A.compile();
  for (int threads : {-1, 4097}) {
    EXPECT_EQ(error_of([&] { kernel.run({.threads = threads}); }),
              "error: a run on " + std::to_string(threads) + " threads; give 1 to 4096, or 0 for one per core");
  }
  kernel.run({.threads = 1});
}

// ---- forms of statements ----

TEST(Api, SubtractsShiftsBroadcastsAndReadsTheOutput) {
  Param n("n", 6), no("no", 2);
  Tensor<double> T("T", {n}), U("U", {n - no}), V("V", {no}), A("A", {n, n});
  T.fill([](const auto& at) { return double(at[0]); });
  IndexVar a("a"), i("i"), j("j");
  U(a) = T(a + no);
  V(i) = 10 * T(i + 0) + n;
  Kernel({U, V}).run();
  EXPECT_EQ(U.at({3}), 5);
  EXPECT_EQ(V.at({1}), 16);
  T(a + no) -= 3 * U(a);
  EXPECT_EQ(T.compile().text().substr(T.compile().text().find("T(a")), "T(a + no) -= 3 * U(a)\n");
  T.compile().run();
  EXPECT_EQ(T.at({1}), 1) << "is not reached";
  EXPECT_EQ(T.at({5}), -10);
  T(i) = 2 * T(i) - n * T(i) * T(i);
  Kernel twice = T.compile();
  EXPECT_EQ(twice.run().bytes_moved, 0);
  EXPECT_EQ(T.at({1}), -4) << "both factors are the element before the run";
  A(i, j) = 2 * n - 1;
  A.compile().run();
  EXPECT_EQ(A.at({5, 5}), 11);
  A(i, j) = n;
  A.compile().run();
  EXPECT_EQ(A.at({5, 5}), 6);
  A(i, j) = 0;
  A.compile().run();
  EXPECT_EQ(A.at({5, 5}), 0);
  n = 3;
  no = 1;
  T.fill([](const auto&) { return 1.0; });
  twice.run();
  EXPECT_EQ(T.at({2}), 2 - 3) << "the new value of n";
}

TEST(Api, TheOutputIsReadWhereItWasRedistributedTo) {
  Machine m{Grid(2)};
  Tensor<double> A("A", {4}, Format({Dense}, Distribution(m, {0}))), b("b", {4}, Format({Dense}, Distribution(m, {0})));
  IndexVar i("i"), io("io"), ii("ii");
  A.fill([](const auto& at) { return double(at[0]); });
  b.fill([](const auto&) { return 1.0; });
  A(i) = b(i) + 2 * A(i);
  A.schedule().distribute({i}, {io}, {ii}, m);
  Kernel kernel = A.compile();
  kernel.run();
  EXPECT_EQ(A.at({3}), 7);
  A.redistribute(Format({Dense}, Distribution(m, {Face{1}})));
  kernel.run();
  EXPECT_EQ(A.at({3}), 15);
}

TEST(Api, TensorsWithoutElements) {
  Tensor<double> A("A", {3, 3}), B("B", {3, 0}), C("C", {0, 3}), D("D", {3, 3});
  D.fill([](const auto&) { return 5.0; });
  A.fill([](const auto&) { return 1.0; });
  IndexVar i("i"), j("j"), k("k");
  A(i, j) = B(i, k) * C(k, j) + D(i, j);
  A.compile().run();
  EXPECT_EQ(A.at({2, 2}), 5);
  B(i, k) = C(k, i);
  B.compile().run();
}

TEST(Api, MistakesThatOnlyTheApiAllows) {
  IndexVar i("i");
  Machine m{Grid(2)};
  EXPECT_EQ(error_of([] { Kernel kernel(std::vector<TensorHandle>{}); }),
            "error: a kernel needs at least one defined tensor");
  EXPECT_EQ(error_of([] { Expr half(Int(Param("n", 4)) / 2); }),
            "error: n/2 cannot be a number of a statement, which adds, subtracts and multiplies\n"
            "  help: give its value to a param, and write that");
  Tensor<double> A("A", {4});
  Tensor<float> F("F", {4});
  EXPECT_EQ(
      error_of([&] { A.schedule().parallelize(i); }),
      "error: tensor A has no statement to schedule\n  help: define it first, for example A(i, j) = B(i, k) * C(k, "
      "j)");
  EXPECT_EQ(
      error_of([&] { Tensor<double>("B", {4}).compile(); }),
      "error: tensor B has no statement to compile\n  help: define it first, for example B(i, j) = D(i, k) * E(k, "
      "j)");
  A(i) = F(i);
  EXPECT_EQ(error_of([&] { A.schedule().distribute({i}, {IndexVar()}, {IndexVar()}, Onto(m).cyclic(0, 2)); }),
            "error: A.schedule(): distribute: cyclic deals out a target that has a role, and there are no roles\n"
            "  help: name a role for each dimension of the grid, as in Onto(m, {0, 1}).cyclic(0, 64)");
  EXPECT_EQ(error_of([&] { A.schedule().distribute({i}, Onto(m, {0})); }),
            "error: distribute: roles are those of targets; name their distributed and local loops too");
  EXPECT_EQ(error_of([&] { A.compile(); }),
            "error: tensor F has elements of type float, and A of type double; a program computes with one type\n"
            "  help: declare it as Tensor<double>, and convert its elements when you fill it");
}

TEST(Api, NumbersOfAnyIntegerType) {
  std::vector<double> x(4);
  long long rows = 4;
  unsigned short columns = 2;
  Tensor<double> A("A", {x.size(), rows}), B("B", {x.size() + columns, rows});
  Param n("n", static_cast<int64_t>(x.size()));
  IndexVar i("i"), j("j"), io("io"), ii("ii");
  A(i, j) = x.size() * B(i + columns, j) - 3U + 1LL;
  A.schedule().split(i, io, ii, n / columns).distribute(std::vector<IndexVar>{io}, Grid(x.size()));
  EXPECT_EQ(A.compile().text(),
            "param n = 4\n\ntensor A(4, 4)\ntensor B(6, 4)\n\nA(i, j) = 4 * B(i + 2, j) - 3 + 1\n\nschedule\n  "
            "split(i, io, ii, n/2)\n  distribute(io, Grid(4))\n");
  EXPECT_EQ(error_of([] { Tensor<double>("A", {~0UL}); }),
            "error: 18446744073709551615 does not fit in 64 bits\n  help: the largest integer is 9223372036854775807");
}

template <class Handle>
Handle moved_from(Handle& handle) {
  return std::move(handle);
}

// A copy of a handle is the same thing. So is what std::move leaves behind.
TEST(Api, HandlesThatWereMovedFromAreTheSame) {
  Tensor<double> A("A", {4}), B("B", {4}), other = moved_from(B);
  IndexVar i("i"), j = moved_from(i);
  Int two = 2, four = moved_from(two) + two;
  Expr b = B(i), sum = moved_from(b) + b;
  A(i) = Expr(four) * sum;
  Machine m{Grid(2), "M"}, n = moved_from(m);
  EXPECT_EQ(m.x.value(), 2);
  Onto onto(m), same_onto = moved_from(onto);
  A.schedule().distribute({i}, {IndexVar("io")}, {IndexVar("ii")}, onto);
  Kernel kernel = A.compile(), same = moved_from(kernel);
  B.fill([](const auto& at) { return double(at[0]); });
  kernel.run();
  EXPECT_EQ(A.at({3}), 4 * 6);
  EXPECT_EQ(other.name() + j.name(), "Bi");
}

TEST(Api, BuffersThatDoNotFitAreRefused) {
  std::vector<double> buffer(4);
  Tensor<double> A("A", {2, 2});
  A.bind(7, buffer.data());
  EXPECT_EQ(error_of([&] { A.pieces(); }),
            "error: tensor A: a buffer is bound for processor 7, and the machine has 1 processor\n"
            "  help: its number is 0");
  // A processor that owns nothing accepts any buffer.
  Format cut({Dense}, Distribution(Machine{Grid(3)}, {0}));
  Tensor<double> D("D", {2}, cut);
  std::vector<double> empty;
  D.bind(2, empty);
  EXPECT_EQ(D.pieces().size(), 2U);
  D.bind(2, empty);
  D.bind(2, static_cast<double*>(nullptr));
  D.bind(2, buffer);
  D.bind(2, buffer.data(), {7});
  D.fill([](const std::vector<int64_t>& at) { return double(at[0] + 1); });
  EXPECT_EQ(buffer, std::vector<double>(4));
  Tensor<double> E("E", {2}, cut);
  for (int64_t p : {2, 1, 0}) E.bind(p, p < 2 ? buffer.data() + p : nullptr);
  E.copy_from(D);
  EXPECT_EQ(buffer, (std::vector<double>{1, 2, 0, 0}));
  EXPECT_EQ(error_of([&] { D.bind(3, empty); }),
            "error: tensor D: a buffer is bound for processor 3, and the machine has 3 processors\n  help: their "
            "numbers are 0 to 2, row by row");
  EXPECT_EQ(error_of([&] { D.bind(1, empty); }), "error: tensor D: the buffer for processor 1 is null");
  Tensor<double> B("B", {2, 2});
  B.bind(0, buffer.data(), {1});
  EXPECT_EQ(error_of([&] { B.pieces(); }),
            "error: tensor B: the buffer for processor 0 has 1 stride, and the tensor 2 dimensions\n  help: give one "
            "stride, in elements, for each dimension, or none for a dense block");
}

TEST(Api, ErrorsQuoteTheProgram) {
  Tensor<double> A({4, 4}), B({4, 5});
  EXPECT_EQ(error_of([&] { A.compile(); }),
            "error: a tensor without a name has no statement to compile\n  help: define it first, for example A(i, j) "
            "= B(i, k) * C(k, j)");
  IndexVar i("i"), j("j"), q("q");
  A(i, j) = B(i, j);
  std::string text = error_of([&] { A.compile().run(); });
  EXPECT_NE(text.find("extent"), std::string::npos) << text;
  Tensor<double> C("C", {4, 4}), D("D", {4, 4});
  C(i, j) = D(i, j);
  C.schedule().split(q, IndexVar("a"), IndexVar("b"), 2);
  text = error_of([&] { C.compile(); });
  EXPECT_NE(text.find("split: there is no loop q"), std::string::npos) << text;
  EXPECT_NE(text.find("split(q, a, b, 2)"), std::string::npos) << text;
  EXPECT_EQ(error_of([&] { C.at({4, 0}); }), "error: C(4, 0) is outside of the tensor, whose shape is (4, 4)");
  EXPECT_EQ(error_of([&] { C.at({4}); }), "error: C(4) has 1 coordinate, and the tensor 2 dimensions");
}

}  // namespace
}  // namespace distal
