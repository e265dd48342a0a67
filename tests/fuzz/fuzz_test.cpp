// Replays the corpus: the inputs that the fuzzer kept because each reaches other code.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "fuzz/fuzz_one.h"
#include "support/programs.h"

namespace distal::core::fuzz {
namespace {

std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> out;
  for (const auto& file : std::filesystem::directory_iterator(DISTAL_SOURCE_DIR "/tests/fuzz/corpus")) {
    out.push_back(file.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The corpus is split into parts that can run in parallel.
constexpr size_t kParts = 4;
class Corpus : public testing::TestWithParam<size_t> {};

TEST_P(Corpus, HasNothingWrong) {
  std::vector<std::filesystem::path> files = corpus();
  ASSERT_GT(files.size(), kParts);
  for (size_t f = GetParam(); f < files.size(); f += kParts) {
    EXPECT_EQ(fuzz_one(test::read_text(files[f])), "") << files[f];
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::Range(size_t{0}, kParts));

}  // namespace
}  // namespace distal::core::fuzz
