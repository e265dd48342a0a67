// What C++ programs leave out is found at the first compile: schedules, grids and formats.

#include <distal/distal.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "api/errors.h"
#include "api/summa.h"
#include "lang/parse.h"
#include "tune/find.h"

namespace distal {
namespace {

// A = B C on a number of processors; grid, formats and schedule are left out.
struct Free {
  Param ni{"ni", 24}, nj{"nj", 18}, nk{"nk", 30};
  Machine M;
  Tensor<double> A, B, C;
  IndexVar i{"i"}, j{"j"}, k{"k"};

  explicit Free(const Machine& machine = Machine(Processors(4), "M"))
      : M(machine), A("A", {ni, nj}, Format(M)), B("B", {ni, nk}, Format(M)), C("C", {nk, nj}, Format(M)) {
    A(i, j) = B(i, k) * C(k, j);
  }
};

const char* kFreeText = R"(param ni = 24, nj = 18, nk = 30
machine M = 4 processors

tensor A(ni, nj) on M
tensor B(ni, nk) on M
tensor C(nk, nj) on M

A(i, j) = B(i, k) * C(k, j)
)";

core::FindOptions for_threads() {
  core::FindOptions options;
  options.model = core::model_of_engine("threads");
  return options;
}

// x and y, as C++ formats have them.
void name_dimensions(core::Distribution& distribution) {
  for (core::LevelDistribution& level : distribution.levels) {
    std::vector<std::string> names = level.tensor_dimensions;
    auto named = [&](const std::string& name) { return name == names[0] ? "x" : "y"; };
    for (std::string& d : level.tensor_dimensions) d = named(d);
    for (core::MachineDimension& m : level.machine_dimensions) {
      if (auto* cut = std::get_if<core::Partition>(&m.role)) cut->name = named(cut->name);
    }
    std::map<std::string, core::IntExpr> cyclic;
    for (const auto& [d, block] : level.cyclic) cyclic.emplace(named(d), block);
    level.cyclic = cyclic;
  }
}

// What `distal optimize` prints for a program of matrices.
std::string optimized(const std::string& text, const core::FindOptions& options = for_threads()) {
  core::Module module = core::parse_module(text, "text");
  core::Module found = core::find_what_is_left_out(module, core::bind(module, {}), options).module;
  for (core::Tensor& tensor : found.tensors) name_dimensions(*tensor.distribution);
  return core::to_string(found);
}

// To a given distribute of two loops, processors without a grid are a grid of two dimensions.
TEST(ApiFound, GridsForGivenSchedules) {
  Free f(Machine(Processors(6), "M"));
  IndexVar io("io"), jo("jo"), ii("ii"), ji("ji");
  f.A.schedule().distribute({f.i, f.j}, {io, jo}, {ii, ji}, f.M).communicate({f.A, f.B, f.C}, jo);
  Kernel kernel = f.A.compile();
  EXPECT_NE(kernel.text().find("machine M = 6 processors as Grid(3, 2)\n"), std::string::npos) << kernel.text();
  fill(f.B, 1);
  fill(f.C, 2);
  kernel.run();
  EXPECT_EQ(kernel.cost().processors_with_work, 6);
  expect_product(f.A, f.B, f.C);
}

TEST(ApiFound, IsWhatOptimizePrints) {
  Free f;
  Kernel kernel = f.A.compile();
  EXPECT_EQ(kernel.text(), optimized(kFreeText));
  EXPECT_EQ(core::to_string(core::parse_module(kernel.text(), "text")), kernel.text());
  fill(f.B, 1);
  fill(f.C, 2);
  RunReport report = kernel.run();
  EXPECT_EQ(report.bytes_moved, kernel.cost().bytes_moved);
  EXPECT_EQ(kernel.cost().processors_with_work, 4);
  expect_product(f.A, f.B, f.C);
}

TEST(ApiFound, HandlesWithoutNames) {
  Param n(20);
  Machine m(Processors(6));
  Format on_m(m);
  Tensor<double> A({n, n}, on_m), B({n, n}, on_m), C({n, n}, on_m);
  IndexVar i, j, k;
  A(i, j) = B(i, k) * C(k, j);
  fill(B, 1);
  fill(C, 2);
  Kernel kernel = A.compile();
  EXPECT_NE(kernel.text().find("machine M1 = 6 processors as "), std::string::npos) << kernel.text();
  kernel.run();
  expect_product(A, B, C);
}

TEST(ApiFound, OptionsOfTheSearch) {
  auto text = [](const FindOptions& options) { return Free().A.compile(options).text(); };
  core::FindOptions bytes = for_threads();
  bytes.goal = core::Goal::Bytes;
  EXPECT_EQ(text({.goal = Goal::Bytes}), optimized(kFreeText, bytes));
  core::FindOptions little = for_threads();
  little.memory_bytes = 4'000;
  EXPECT_EQ(text({.memory_bytes = 4'000}), optimized(kFreeText, little));
  std::string refused = message_of([&] { text({.memory_bytes = 100}); });
  EXPECT_EQ(refused.rfind("nothing fits: a processor needs at least ", 0), 0u) << refused;
  EXPECT_EQ(message_of([&] { text({.engine = "tapes"}); }), "there is no model of the engine `tapes`");
  EXPECT_EQ(message_of([&] { text({.model = "/nonexistent.model"}); }), "cannot read the model /nonexistent.model");
}

TEST(ApiFound, IsWatchedAndCancelled) {
  Progress progress;
  std::string whole = Free().A.compile().text();
  EXPECT_EQ(Free().A.compile({.progress = &progress}).text(), whole);
  EXPECT_GT(progress.state().done, 0);
  progress.cancel();
  Free f;
  EXPECT_EQ(message_of([&] { f.A.compile({.progress = &progress}); }), "interrupted");
  EXPECT_THROW(Program::parse(kFreeText, {}, std::nullopt, {.progress = &progress}), Interrupted);
  EXPECT_EQ(f.A.compile().text(), whole);  // nothing was given to the tensors before
}

// A schedule is given, and the grid or the formats are found.
TEST(ApiFound, IsCancelledWithAGivenSchedule) {
  for (const Machine& machine : {Machine(Processors(6), "M"), Machine(Grid(2, 3), "M")}) {
    Progress progress;
    IndexVar io("io"), jo("jo"), ii("ii"), ji("ji");
    auto compile = [&] {
      Free f(machine);
      f.A.schedule().distribute({f.i, f.j}, {io, jo}, {ii, ji}, f.M).communicate({f.A, f.B, f.C}, jo);
      f.A.compile({.progress = &progress});
    };
    compile();
    EXPECT_GT(progress.state().done, 0);
    progress.cancel();
    EXPECT_THROW(compile(), Interrupted);
  }
}

TEST(ApiFound, IsCancelledByAnotherThread) {
  // An output with replicas on many processors takes seconds.
  std::string text =
      "param p = 65520\nmachine M = p processors\ntensor A(4000, 4000) : xy -> * on M\n"
      "tensor B(4000, 4000, 100) on M\ntensor C(4000, 4000, 100) on M\nA(i, j) = B(i, k, l) * C(k, j, l)\n";
  bool is_interrupted = false;
  for (int tries = 0; tries < 5 && !is_interrupted; ++tries) {  // on a busy machine the other thread may be late
    Progress progress;
    std::thread other([&] {
      while (progress.state().done == 0) std::this_thread::yield();
      progress.cancel();
    });
    std::string said = message_of([&] { Program::parse(text, {}, std::nullopt, {.progress = &progress}); });
    other.join();
    is_interrupted = said == "interrupted";
  }
  EXPECT_TRUE(is_interrupted);
  EXPECT_EQ(Program::parse(text, {{"p", 4}}).kernel().cost().processors_with_work, 4);
}

TEST(ApiFound, OfAModelInAFile) {
  // In this model only exchanged bytes take time.
  std::string file = ::testing::TempDir() + "distal_bytes.model";
  std::ofstream(file) << "flops_per_second = 1e30\nlink_bytes_per_second = 1\nmemory_bytes_per_second = 1e30\n"
                         "seconds_per_message = 1e-30\n";
  Param n("n", 64);
  Machine M(Processors(8), "M");
  Tensor<double> A("A", {n, n}, Format(M)), B("B", {n, n}, Format(M)), C("C", {n, n}, Format(M));
  IndexVar i("i"), j("j"), k("k");
  A(i, j) = B(i, k) * C(k, j);
  EXPECT_NE(A.compile({.model = file}).text().find("(Grid(2) of Grid(2) of Grid(2))"), std::string::npos);
  std::filesystem::remove(file);
}

TEST(ApiFound, ElementsThatWereSetBeforeAreKept) {
  Free f;
  fill(f.B, 1);
  fill(f.C, 2);
  EXPECT_EQ(f.B.at({3, 4}), value_of({3, 4}, 1));
  Kernel kernel = f.A.compile();
  EXPECT_GT(f.B.pieces().size(), 1u);
  EXPECT_EQ(f.B.at({3, 4}), value_of({3, 4}, 1));
  EXPECT_EQ(f.B.at({23, 29}), value_of({23, 29}, 1));
  kernel.run();
  expect_product(f.A, f.B, f.C);
}

TEST(ApiFound, ScalarsAndVectorsAreKept) {
  Machine M(Processors(3), "M");
  Tensor<double> a("a", {}, Format(M)), b("b", {7}, Format(M)), c("c", {}, Format(M));
  IndexVar i("i");
  fill(b, 1);
  c.set({}, 3);
  a() = c * b(i);
  a.compile().run();
  double want = 0;
  for (int64_t x = 0; x < 7; ++x) want += 3 * b.at({x});
  EXPECT_EQ(a.at({}), want);
}

TEST(ApiFound, PiecesAreRefusedBefore) {
  Free f;
  std::vector<double> memory(24 * 30);
  auto needs = [](const std::string& call) { return "tensor B: its format is left out, and " + call + " needs one"; };
  EXPECT_EQ(message_of([&] { f.B.bind(0, std::span<double>(memory)); }), needs("bind"));
  EXPECT_EQ(message_of([&] { f.B.bind(0, memory.data()); }), needs("bind"));
  EXPECT_EQ(message_of([&] { f.B.pieces(); }), needs("pieces"));
  EXPECT_EQ(message_of([&] { f.B.layout(); }), needs("layout"));
  Format rows({Dense, Dense}, Distribution(Machine(Grid(4)), {0}));
  EXPECT_EQ(message_of([&] { f.B.redistribute(rows); }), needs("redistribute"));
  EXPECT_EQ(error_of([&] { f.B.redistribution_cost(rows); }),
            "error: tensor B: its format is left out, and redistribute needs one\n"
            "  help: compile the statement that uses it first, or give it a format");
  f.A.compile();
  EXPECT_GT(f.B.layout().size(), 1u);
  EXPECT_EQ(message_of([&] { f.B.redistribute(Format(f.M)); }), "tensor B: redistribute to a format that is left out");
}

TEST(ApiFound, BuffersAreBoundToFoundPieces) {
  Free f;
  Kernel kernel = f.A.compile();
  std::vector<std::vector<double>> memory;
  for (const PieceInfo& piece : f.B.layout()) {
    memory.emplace_back(static_cast<size_t>(piece.extents[0] * piece.extents[1]));
    f.B.bind(piece.processor, std::span<double>(memory.back()));
  }
  fill(f.B, 1);
  fill(f.C, 2);
  kernel.run();
  expect_product(f.A, f.B, f.C);
}

TEST(ApiFound, IsKeptWhenParamsChange) {
  Free f;
  Kernel kernel = f.A.compile();
  std::string text = kernel.text();
  for (int64_t n : {5, 31, 24}) {
    f.ni = n;
    f.nk = n + 2;
    fill(f.B, n);
    fill(f.C, 2);
    kernel.run();
    expect_product(f.A, f.B, f.C);
  }
  EXPECT_EQ(kernel.text(), text);
}

TEST(ApiFound, IsKeptWhenATensorIsRedistributed) {
  Free f;
  Kernel kernel = f.A.compile();
  std::string schedule = kernel.text().substr(kernel.text().find("schedule"));
  fill(f.B, 1);
  fill(f.C, 2);
  f.B.redistribute(Format({Dense, Dense}, Distribution(Machine(Grid(4), "rows"), {0})));
  kernel.run();
  expect_product(f.A, f.B, f.C);
  EXPECT_EQ(kernel.text().substr(kernel.text().find("schedule")), schedule);
  EXPECT_NE(kernel.text().find("tensor B(ni, nk) : xy -> x on rows\n"), std::string::npos) << kernel.text();
}

TEST(ApiFound, GivenFormatsStay) {
  Param n("n", 16);
  Machine M(Processors(4), "M");
  Format rows({Dense, Dense}, Distribution(M, {0}));  // on the four processors as a line
  Tensor<double> A("A", {n, n}, Format(M)), B("B", {n, n}, rows), C("C", {n, n}, Format(M));
  IndexVar i("i"), j("j"), k("k");
  A(i, j) = B(i, k) * C(k, j);
  Kernel kernel = A.compile({.goal = Goal::Bytes});
  EXPECT_NE(kernel.text().find("tensor B(n, n) : xy -> x on Grid(4)\n"), std::string::npos) << kernel.text();
  fill(B, 1);
  fill(C, 2);
  kernel.run();
  expect_product(A, B, C);
}

// The second statement takes A as the first one left it, on another grid of the same processors.
TEST(ApiFound, ATensorIsFoundOnceForSeveralKernels) {
  Free f;
  f.A.compile();
  std::vector<PieceInfo> before = f.A.layout();
  Tensor<double> D("D", {f.ni, 300}, Format(f.M)), E("E", {f.nj, 300}, Format(f.M));
  D(f.i, f.k) = f.A(f.i, f.j) * E(f.j, f.k);
  Kernel second = D.compile();
  std::vector<PieceInfo> after = f.A.layout();
  ASSERT_EQ(before.size(), after.size());
  for (size_t p = 0; p < before.size(); ++p) EXPECT_EQ(before[p].rectangles, after[p].rectangles);
  EXPECT_EQ(core::to_string(core::parse_module(second.text(), "text")), second.text());
  fill(f.A, 1);
  fill(E, 2);
  second.run();
  expect_product(D, f.A, E);
}

TEST(ApiFound, AGivenGridStays) {
  Free f(Machine(Grid(2, 3), "M"));
  Kernel kernel = f.A.compile();
  EXPECT_NE(kernel.text().find("machine M = Grid(2, 3)\n"), std::string::npos) << kernel.text();
  EXPECT_EQ(kernel.cost().processors_with_work, 6);
  Machine as(Processors(7), "M");
  EXPECT_NE(Free(as.as(Grid(2, 3))).A.compile().text().find("machine M = 7 processors as Grid(2, 3)\n"),
            std::string::npos);
}

TEST(ApiFound, ProcessorsMayBeAParam) {
  Param count("count", 4);
  Free f(Machine(Processors(count), "M"));
  EXPECT_NE(f.A.compile().text().find("machine M = count processors as "), std::string::npos);
}

// A schedule was given, and a format was not: the tensor lies on the first processor.
TEST(ApiFound, NothingIsFoundForAGivenSchedule) {
  Free f;
  fill(f.B, 1);
  fill(f.C, 2);
  f.A.schedule();
  Kernel kernel = f.A.compile();
  EXPECT_NE(kernel.text().find("tensor A(ni, nj) : xy -> 0 on M\n"), std::string::npos) << kernel.text();
  EXPECT_EQ(f.A.layout().size(), 1u);
  kernel.run();
  EXPECT_EQ(kernel.cost().bytes_moved, 0);
  expect_product(f.A, f.B, f.C);
}

TEST(ApiFound, AStatementKeepsWhatItsOwnKernelFound) {
  Free f;
  Kernel first = f.A.compile();
  std::string text = first.text();
  f.ni = 3000;
  Kernel second = f.A.compile();  // finds another schedule, for the formats that are given now
  EXPECT_EQ(first.text().substr(first.text().find("machine")), text.substr(text.find("machine")));
}

// A = B C D, which is computed in two parts: the first one goes into a workspace of the kernel.
struct Chain {
  Param n{"n", 40};
  Tensor<double> A, B, C, D;
  IndexVar i{"i"}, j{"j"}, k{"k"}, l{"l"};

  explicit Chain(const Format& format)
      : A("A", {n, n}, format), B("B", {n, n}, format), C("C", {n, n}, format), D("D", {n, n}, format) {
    A(i, l) = B(i, j) * C(j, k) * D(k, l);
  }

  void expect_right(const Kernel& kernel) {
    fill(B, 1);
    fill(C, 2);
    fill(D, 3);
    kernel.run();
    int64_t size = n.value();
    for (int64_t x : {int64_t{0}, size - 1}) {
      for (int64_t y = 0; y < size; ++y) {
        double want = 0;
        for (int64_t p = 0; p < size; ++p) {
          for (int64_t q = 0; q < size; ++q) want += B.at({x, p}) * C.at({p, q}) * D.at({q, y});
        }
        ASSERT_EQ(A.at({x, y}), want) << x << ", " << y;
      }
    }
  }
};

TEST(ApiFound, ProductsAreComputedInParts) {
  for (const Format& format : {Format(Machine(Processors(4), "M")), Format(Machine(Grid(2, 2))), Format()}) {
    Chain s(format);
    Kernel kernel = s.A.compile();
    std::string text = kernel.text();
    EXPECT_NE(text.find("precompute("), std::string::npos) << text;
    EXPECT_EQ(core::to_string(core::parse_module(text, "text")), text);
    s.expect_right(kernel);
    s.n = 23;
    s.expect_right(kernel);
    if (!format.machine()) continue;
    s.n = 40;
    s.B.redistribute(Format({Dense, Dense}, Distribution(Machine(Grid(4), "rows"), {1})));
    EXPECT_NE(kernel.text(), text);
    s.expect_right(kernel);
  }
}

TEST(ApiFound, EmptyTensors) {
  Free f;
  f.nj = 0;
  Kernel kernel = f.A.compile();
  kernel.run();
  f.nj = 18;
  fill(f.B, 1);
  fill(f.C, 2);
  kernel.run();
  expect_product(f.A, f.B, f.C);
  f.ni = -1;
  EXPECT_EQ(message_of([&] {
              Free g;
              g.ni = -1;
              g.A.compile();
            }),
            "dimension 0 of A is ni = -1; it must be at least 0");
}

TEST(ApiFound, OfAProgramInAFile) {
  Program program = Program::parse(kFreeText);
  EXPECT_EQ(program.kernel().text(), optimized(kFreeText));
  auto A = program.tensor<double>("A"), B = program.tensor<double>("B"), C = program.tensor<double>("C");
  EXPECT_GT(B.layout().size(), 1u);
  fill(B, 1);
  fill(C, 2);
  program.run();
  expect_product(A, B, C);
  core::FindOptions bytes = for_threads();
  bytes.goal = core::Goal::Bytes;
  EXPECT_EQ(Program::parse(kFreeText, {}, std::nullopt, {.goal = Goal::Bytes}).kernel().text(),
            optimized(kFreeText, bytes));
}

TEST(ApiFound, ProcessorsOfAFileKeepTheirNumber) {
  std::string text =
      "machine M = 7 processors as Grid(2, 3)\n\ntensor a(12) : x -> x0 on M\ntensor b(12) on M\n\na(i) = b(i)\n";
  Program program = Program::parse(text);
  EXPECT_NE(program.kernel().text().find("machine M = 7 processors as Grid(2, 3)\n"), std::string::npos);
  EXPECT_EQ(program.kernel().cost().processors, 7);
}

}  // namespace
}  // namespace distal
