// The algorithms, executed and compared with the reference, with sizes that the grids divide and sizes that they do
// not.

#include <gtest/gtest.h>

#include "support/algorithm_texts.h"
#include "support/run.h"

namespace distal::core {
namespace {

using test::run_algorithm;
using test::run_text;
using test::RunOptions;

struct Problem {
  std::string name;
  int64_t ni, nj, nk;
  std::string sizes() const { return fmt::format("ni={},nj={},nk={}", ni, nj, nk); }
};
void PrintTo(const Problem& p, std::ostream* out) { *out << p.sizes(); }

const std::vector<Problem>& problems() {
  static const std::vector<Problem> all{
      {"divisible", 12, 24, 36},          {"one_less", 11, 23, 35}, {"one_more", 13, 25, 37}, {"primes", 37, 53, 29},
      {"fewer_than_processors", 2, 3, 1}, {"flat", 1, 40, 3},       {"one", 1, 1, 1},
  };
  return all;
}

const std::vector<std::pair<int64_t, int64_t>>& planes() {
  static const std::vector<std::pair<int64_t, int64_t>> all{{2, 2}, {3, 3}, {3, 2}, {2, 3}, {1, 5},
                                                            {5, 1}, {4, 3}, {1, 1}, {7, 1}};
  return all;
}

struct Cube {
  int64_t gx, gy, gz;
};
const std::vector<Cube>& cubes() {
  static const std::vector<Cube> all{{2, 2, 2}, {3, 1, 2}, {1, 2, 3}, {2, 3, 1}, {1, 1, 5}, {3, 3, 3}, {1, 1, 1}};
  return all;
}

class Gemm : public testing::TestWithParam<Problem> {
 protected:
  void run(const std::string& algorithm, const std::string& grid) {
    for (ElementType type : {ElementType::Float, ElementType::Double, ElementType::Int64}) {
      RunOptions options;
      options.type = type;
      // One type uses the library, another the interpreter, and the third copies instead of views.
      options.own_memory = type == ElementType::Int64;
      options.leaf = type == ElementType::Float ? LeafChoice::Interpreted : LeafChoice::Automatic;
      run_algorithm(algorithm, GetParam().sizes() + "," + grid, options);
    }
  }
};

TEST_P(Gemm, Cannon) {
  for (auto [gx, gy] : planes()) run("cannon", fmt::format("gx={},gy={}", gx, gy));
}
TEST_P(Gemm, Pumma) {
  for (auto [gx, gy] : planes()) run("pumma", fmt::format("gx={},gy={}", gx, gy));
}
TEST_P(Gemm, Summa) {
  for (auto [gx, gy] : planes()) {
    for (int chunk : {1, 5, 16, 100}) {
      if (chunk == 1 && gx * gy > 6) continue;
      run("summa", fmt::format("gx={},gy={},chunk={}", gx, gy, chunk));
    }
  }
}
TEST_P(Gemm, Scalapack) {
  for (auto [gx, gy] : planes()) {
    for (auto [block, chunk] : {std::pair{1, 16}, {3, 5}, {4, 4}, {16, 100}}) {
      if (block == 1 && gx * gy > 6) continue;
      run("scalapack", fmt::format("gx={},gy={},block={},chunk={}", gx, gy, block, chunk));
    }
  }
}
TEST_P(Gemm, Johnson) {
  for (auto [gx, gy, gz] : cubes()) run("johnson", fmt::format("gx={},gy={},gz={}", gx, gy, gz));
}
TEST_P(Gemm, Solomonik) {
  for (auto [g, c] : std::vector<std::pair<int, int>>{{2, 1}, {2, 2}, {4, 1}, {4, 2}, {4, 4}, {3, 2}, {5, 3}, {1, 1}}) {
    run("solomonik", fmt::format("g={},c={}", g, c));
  }
}
TEST_P(Gemm, Cosma) {
  for (auto [gx, gy, gz] : cubes()) {
    run("cosma", fmt::format("gx={},gy={},gz={},steps=3", gx, gy, gz));
    run("cosma", fmt::format("gx={},gy={},gz={},steps=2,seqi=2,seqj=3", gx, gy, gz));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Gemm, testing::ValuesIn(problems()),
                         [](const auto& tested) { return tested.param.name; });

// ---- the other kernels ----

TEST(Kernels, Ttv) {
  for (auto [gx, gy] : planes()) run_algorithm("ttv", fmt::format("ni=7,nj=11,nk=5,gx={},gy={}", gx, gy));
}

TEST(Kernels, Ttm) {
  for (int gx : {1, 2, 3, 7, 10}) run_algorithm("ttm", fmt::format("ni=7,nj=5,nk=6,nl=4,gx={}", gx));
}

TEST(Kernels, InnerProduct) {
  for (auto [gx, gy] : planes()) run_algorithm("innerprod", fmt::format("ni=7,nj=11,nk=5,gx={},gy={}", gx, gy));
}

TEST(Kernels, MttkrpOnACube) {
  for (auto [gx, gy, gz] : cubes()) {
    run_algorithm("mttkrp", fmt::format("ni=7,nj=5,nk=6,nl=4,gx={},gy={},gz={}", gx, gy, gz));
  }
}

TEST(Kernels, Contraction4) {
  for (auto [gx, gy] : planes()) {
    run_algorithm("contraction4", fmt::format("ni=4,nj=5,nk=3,nl=2,nm=6,nn=3,gx={},gy={}", gx, gy));
  }
}

TEST(Kernels, Matvec) {
  for (auto [gx, gy] : planes()) run_algorithm("matvec", fmt::format("ni=17,nj=14,gx={},gy={}", gx, gy));
}

TEST(Kernels, MatvecRowMatched) {
  RunCounts counts = run_text(test::kMatvecByRows);
  EXPECT_EQ(counts.bytes_moved, 0);
}

TEST(Kernels, MatvecColumnMatched) {
  RunCounts counts = run_text(test::kMatvecByColumns);
  EXPECT_EQ(counts.bytes_moved, 3 * 13 * 8);
}

TEST(Kernels, MttkrpOnALineAndAPlane) {
  run_text(test::kMttkrpOnALine);
  run_text(test::kMttkrpOnAPlane);
}

TEST(Kernels, BatchedGemm) {
  for (const char* settings : {"", "nb=4,ni=6,nj=8,nk=10", "nb=1", "g=3,h=2"}) {
    run_text(test::kBatchedGemm, settings);
  }
}

// ---- two levels ----

TEST(TwoLevels, Cannon) {
  const std::string text = test::kTwoLevelCannon;
  for (const char* settings : {"", "ni=12,nj=12,nk=12", "g=2,h=3", "g=1,h=4", "g=2,h=1", "ni=2,nj=1,nk=3"}) {
    for (bool own : {false, true}) {
      RunOptions options;
      options.own_memory = own;
      run_text(text, settings, options);
    }
  }
}

TEST(TwoLevels, CannonInsideAndOutside) {
  const std::string text = test::kCannonInCannon;
  for (const char* settings : {"", "n=16", "n=3", "g=3,h=2", "g=1,h=3"}) {
    for (bool own : {false, true}) {
      RunOptions options;
      options.own_memory = own;
      run_text(text, settings, options);
    }
  }
}

TEST(TwoLevels, Summa) {
  const std::string head = test::kTwoLevelSumma;
  for (const std::string& how : {test::kSharedByNode, test::kEachItsOwn}) {
    for (const char* settings : {"", "ni=12,nj=12,nk=12", "ni=2,nj=2,nk=2", "chunk=7"}) {
      for (bool own : {false, true}) {
        RunOptions options;
        options.own_memory = own;
        run_text(head + how, settings, options);
      }
    }
  }
}

TEST(TwoLevels, AReductionAtBothLevels) {
  const std::string head = test::kReductionAtBothLevels;
  // With one shared partial per node, and with one partial per processor.
  for (const std::string& how :
       {std::string("  communicate({A, B, C}, ko)\n  distribute(ki, kio, kii, M[1])\n"),
        std::string("  distribute(ki, kio, kii, M[1])\n  communicate({A, B, C}, kio)\n"),
        std::string("  communicate(A, ko)\n  distribute(ki, kio, kii, M[1])\n  communicate({B, C}, kio)\n")}) {
    for (const char* settings : {"", "ni=8,nj=6,nk=24", "ni=1,nj=1,nk=1"}) {
      for (bool own : {false, true}) {
        RunOptions options;
        options.own_memory = own;
        run_text(head + how, settings, options);
      }
    }
  }
}

TEST(ThreeLevels, ASumCutAtEveryLevel) { run_text(test::kSumAtThreeLevels); }

// ---- communicate at any loop gives the same result ----

TEST(Communicate, AtEveryLoop) {
  const std::vector<std::string> loops{"io", "jo", "ko", "ii", "ji", "ki"};
  for (const std::string& a : loops) {
    for (const std::string& b : loops) {
      std::string schedule =
          "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  split(k, ko, ki, chunk)\n"
          "  reorder({io, jo, ko, ii, ji, ki})\n  communicate(A, " +
          a + ")\n  communicate({B, C}, " + b + ")\n";
      SCOPED_TRACE(schedule);
      RunOptions options;
      options.leaf = LeafChoice::Interpreted;
      options.own_memory = a < b;
      options.threads = 1;
      run_text(test::tiled_gemm(schedule), "ni=5,nj=4,nk=7,gx=2,gy=2,chunk=3", options);
    }
  }
}

TEST(Communicate, NotAtAll) {
  run_text(test::tiled_gemm("  distribute({i, j}, {io, jo}, {ii, ji}, M)\n"), "ni=5,nj=4,nk=3");
  run_text(test::tiled_gemm(""), "ni=5,nj=4,nk=3");
}

}  // namespace
}  // namespace distal::core
