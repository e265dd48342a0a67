// Random programs on Legion, in one process and in two, against the reference: exactly, on integers.

#include "on_legion.h"
#include "property/generate.h"

namespace distal::core {
namespace {

constexpr size_t kPrograms = 60;
constexpr size_t kInTwoProcesses = 10;
constexpr uint64_t kFirstSeed = 5'000'000;  // others than those of the threads engine

class RandomPrograms : public testing::Test {
 protected:
  // Those that are legal, until there are enough.
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

// For ctest, which builds beside other tests and runs the rest alone.
TEST_F(RandomPrograms, Builds) { EXPECT_TRUE(executable_.exists()); }

TEST_F(RandomPrograms, AgreeWithTheReference) { run(kPrograms, 1); }

TEST_F(RandomPrograms, InTwoProcesses) {
  if (!executable_.has_processes()) GTEST_SKIP() << "there is no mpirun here";
  run(kInTwoProcesses, 2);
}

}  // namespace
}  // namespace distal::core
