// Random programs on Legion, in one process and in two. Their integer results must equal those of the reference.

#include "on_legion.h"
#include "property/generate.h"

namespace distal::core {
namespace {

constexpr size_t kPrograms = 60;
constexpr size_t kInTwoProcesses = 10;
constexpr uint64_t kFirstSeed = 5'000'000;  // different from the seeds of the other engines' tests

class RandomPrograms : public testing::Test {
 protected:
  // Generates programs until kPrograms of them are legal.
  static void SetUpTestSuite() {
    std::vector<test::LegionProgram> legal;
    for (uint64_t seed = kFirstSeed; legal.size() < kPrograms; ++seed) {
      try {
        std::string text = property::generate_program(seed).text;
        legal.push_back(test::legion_test_program(fmt::format("seed_{}", seed), text, ElementType::Int64));
      } catch (const Error&) {
      }
    }
    executable_.build(std::move(legal));
  }

  void SetUp() override {
    if (!executable_.exists()) GTEST_SKIP() << "there is no Legion here";
  }

  static void run(size_t count, int ranks) {
    std::vector<test::LegionRun> runs;
    for (const auto& [name, program] : executable_.programs()) {
      if (runs.size() < count) runs.push_back({name, {}});
    }
    executable_.run(runs, ranks);
  }

  static inline test::LegionExecutable executable_;
};

// A test of its own, so that ctest builds the executable in parallel to other tests. The runs are made one at a time.
TEST_F(RandomPrograms, Builds) { EXPECT_TRUE(executable_.exists()); }

TEST_F(RandomPrograms, AgreeWithTheReference) { run(kPrograms, 1); }

TEST_F(RandomPrograms, InTwoProcesses) {
  if (!executable_.has_processes()) GTEST_SKIP() << "there is no mpirun here";
  run(kInTwoProcesses, 2);
}

}  // namespace
}  // namespace distal::core
