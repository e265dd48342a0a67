// Every algorithm and kernel on Legion, with sizes that the grids divide and sizes that they do not, in one process and
// in two processes; and one algorithm in four.

#include "on_legion.h"
#include "support/algorithm_texts.h"
#include "support/programs.h"

namespace distal::core {
namespace {

std::string algorithm(const std::string& name) {
  return read_text(std::string(DISTAL_SOURCE_DIR) + "/algorithms/" + name + ".distal");
}

// Whether all sizes are combined with all grids; by default each size runs on some grids only.
bool is_long() { return !environment("DISTAL_LONG").empty(); }

const std::vector<Bindings>& sizes() {
  static const std::vector<Bindings> all{
      {{"ni", 37}, {"nj", 53}, {"nk", 29}}, {{"ni", 12}, {"nj", 24}, {"nk", 36}}, {{"ni", 11}, {"nj", 23}, {"nk", 35}},
      {{"ni", 13}, {"nj", 25}, {"nk", 37}}, {{"ni", 2}, {"nj", 3}, {"nk", 1}},    {{"ni", 1}, {"nj", 40}, {"nk", 3}},
  };
  return all;
}

const std::vector<Bindings>& planes() {
  static const std::vector<Bindings> all{
      {{"gx", 2}, {"gy", 2}}, {{"gx", 3}, {"gy", 2}}, {{"gx", 1}, {"gy", 5}}, {{"gx", 7}, {"gy", 1}}};
  return all;
}

const std::vector<Bindings>& cubes() {
  static const std::vector<Bindings> all{{{"gx", 2}, {"gy", 2}, {"gz", 2}},
                                         {{"gx", 3}, {"gy", 1}, {"gz", 2}},
                                         {{"gx", 1}, {"gy", 1}, {"gz", 5}},
                                         {{"gx", 2}, {"gy", 3}, {"gz", 1}}};
  return all;
}

const std::vector<Bindings>& squares() {
  static const std::vector<Bindings> all{
      {{"g", 2}, {"c", 1}}, {{"g", 2}, {"c", 2}}, {{"g", 4}, {"c", 4}}, {{"g", 3}, {"c", 2}}};
  return all;
}

struct Gemm {
  std::string name;
  const std::vector<Bindings>& grids;
  Bindings more;
};

const std::vector<Gemm>& gemms() {
  static const std::vector<Gemm> all{{"cannon", planes(), {}},
                                     {"pumma", planes(), {}},
                                     {"summa", planes(), {{"chunk", 5}}},
                                     {"scalapack", planes(), {{"block", 3}, {"chunk", 7}}},
                                     {"johnson", cubes(), {}},
                                     {"solomonik", squares(), {}},
                                     {"cosma", cubes(), {{"steps", 2}, {"seqi", 2}, {"seqj", 3}}}};
  return all;
}

Bindings joined(Bindings a, const Bindings& b, const Bindings& c) {
  a.insert(b.begin(), b.end());
  a.insert(c.begin(), c.end());
  return a;
}

// Nested loops, each with an acquire of its own, including one for the output.
const std::string kSummaInBlocks = test::tiled_gemm(R"(  distribute({i, j}, {io, jo}, {ii, ji}, M)
  split(ii, is, ib, chunk)
  split(k, ks, kb, chunk)
  reorder({io, jo, is, ks, ib, ji, kb})
  communicate(A, is)
  communicate({B, C}, ks)
)");

// The processors of a node write parts of one rectangle, which the node acquires. Some of them have no iterations.
const std::string kPartsOfOneRectangle = R"(param ni = 2, nl = 2
machine M = Grid(2, 1) of Grid(2, 3)
tensor A(ni, nl) : xy -> **, xy -> ** on M
tensor B(nl, ni) : xy -> y0, xy -> xy on M

B(l, i) = A(i, l)

schedule
  distribute({l, i}, {lo, io}, {li, ii}, M[0])
  distribute({li, ii}, {lp, ip}, {lr, ir}, M[1])
  communicate({A, B}, lo)
)";

// A kernel, and the params of its runs. The first run is repeated in two processes.
struct Kernel {
  std::string name, text;
  std::vector<Bindings> set;
};

const std::vector<Kernel>& kernels() {
  const std::string reduction = test::kReductionAtBothLevels;
  static const std::vector<Kernel> all{
      {"ttv", algorithm("ttv"), {{{"ni", 7}, {"nj", 11}, {"nk", 5}}, {{"ni", 2}, {"nj", 3}, {"nk", 4}, {"gx", 5}}}},
      {"ttm", algorithm("ttm"), {{{"ni", 7}, {"nj", 5}, {"nk", 6}, {"nl", 4}, {"gx", 3}}}},
      {"mttkrp", algorithm("mttkrp"), {{{"ni", 7}, {"nj", 5}, {"nk", 6}, {"nl", 4}}}},
      {"mttkrp_line", test::kMttkrpOnALine, {{}}},
      {"mttkrp_plane", test::kMttkrpOnAPlane, {{}}},
      {"innerprod", algorithm("innerprod"), {{{"ni", 7}, {"nj", 11}, {"nk", 5}}, {{"ni", 1}, {"nj", 1}, {"nk", 1}}}},
      {"contraction4", algorithm("contraction4"), {{{"ni", 4}, {"nj", 5}, {"nk", 3}, {"nl", 2}, {"nm", 6}, {"nn", 3}}}},
      {"matvec", algorithm("matvec"), {{{"ni", 17}, {"nj", 14}}}},
      {"matvec_rows", test::kMatvecByRows, {{}}},
      {"matvec_columns", test::kMatvecByColumns, {{}}},
      {"summa_blocks", kSummaInBlocks, {{{"ni", 37}, {"nk", 9}, {"chunk", 5}}, {{"ni", 5}, {"chunk", 2}}}},
      {"batched", test::kBatchedGemm, {{}, {{"nb", 1}}}},
      {"two_cannon", test::kTwoLevelCannon, {{}, {{"g", 2}, {"h", 3}}}},
      {"cannon_in_cannon", test::kCannonInCannon, {{}}},
      {"two_summa_shared", test::kTwoLevelSumma + test::kSharedByNode, {{}}},
      {"two_summa_apart", test::kTwoLevelSumma + test::kEachItsOwn, {{}}},
      {"two_reductions_above", reduction + "  communicate({A, B, C}, ko)\n  distribute(ki, kio, kii, M[1])\n", {{}}},
      {"two_reductions_below", reduction + "  distribute(ki, kio, kii, M[1])\n  communicate({A, B, C}, kio)\n", {{}}},
      {"three_sums", test::kSumAtThreeLevels, {{}}},
      {"parts_of_one", kPartsOfOneRectangle, {{}, {{"ni", 13}, {"nl", 7}}}},
  };
  return all;
}

class Algorithms : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::vector<test::LegionProgram> all;
    for (const Gemm& g : gemms()) {
      all.push_back(test::legion_test_program(g.name, algorithm(g.name), ElementType::Double));
    }
    all.push_back(test::legion_test_program("summa_float", algorithm("summa"), ElementType::Float));
    all.push_back(test::legion_test_program("johnson_int64", algorithm("johnson"), ElementType::Int64));
    all.push_back(test::legion_test_program("johnson_complex", algorithm("johnson"), ElementType::ComplexDouble));
    for (const Kernel& k : kernels()) all.push_back(test::legion_test_program(k.name, k.text, ElementType::Double));
    executable_.build(std::move(all));
  }

  void SetUp() override {
    if (!executable_.exists()) GTEST_SKIP() << "there is no Legion here";
  }

  static inline test::LegionExecutable executable_;
};

// A test of its own, so that ctest builds the executable in parallel to other tests. The runs are made one at a time.
TEST_F(Algorithms, Builds) { EXPECT_TRUE(executable_.exists()); }

TEST_F(Algorithms, InOneProcess) {
  std::vector<test::LegionRun> runs;
  for (const Gemm& g : gemms()) {
    size_t round = 0;
    for (const Bindings& grid : g.grids) {
      for (size_t s = 0; s < sizes().size(); ++s) {
        // By default, runs every size on some grid, and every grid with some sizes.
        if (is_long() || s % g.grids.size() == round) runs.push_back({g.name, joined(sizes()[s], grid, g.more)});
      }
      ++round;
    }
  }
  runs.push_back({"summa_float", joined(sizes()[0], planes()[1], {{"chunk", 7}})});
  runs.push_back({"johnson_int64", joined(sizes()[0], cubes()[0], {})});
  runs.push_back({"johnson_complex", joined(sizes()[0], cubes()[1], {})});
  for (const Kernel& k : kernels()) {
    for (const Bindings& set : k.set) runs.push_back({k.name, set});
  }
  // More steps than one partition can have subregions for.
  runs.push_back({"summa", {{"ni", 2}, {"nj", 3}, {"nk", 2100}, {"gx", 2}, {"gy", 1}, {"chunk", 1}}});
  executable_.run(runs, 1);
}

TEST_F(Algorithms, InTwoProcesses) {
  if (!executable_.has_processes()) GTEST_SKIP() << "there is no mpirun here";
  std::vector<test::LegionRun> runs;
  for (const Gemm& g : gemms()) runs.push_back({g.name, joined(sizes()[0], g.grids[0], g.more)});
  for (const Kernel& k : kernels()) runs.push_back({k.name, k.set[0]});
  executable_.run(runs, 2);
}

TEST_F(Algorithms, InFourProcesses) {
  if (!executable_.has_processes()) GTEST_SKIP() << "there is no mpirun here";
  executable_.run({{"johnson", joined(sizes()[0], cubes()[0], {})}}, 4);
}

}  // namespace
}  // namespace distal::core
