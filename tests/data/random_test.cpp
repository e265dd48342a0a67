#include "data/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace distal::core {
namespace {

constexpr int64_t kSamples = 100000;

template <class Real>
void expect_uniform(uint64_t seed) {
  std::vector<int> buckets(16, 0);
  double sum = 0;
  double lagged = 0;
  double previous = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    auto value = static_cast<double>(random_value<Real>(seed, i));
    ASSERT_GE(value, -1);
    ASSERT_LT(value, 1);
    ++buckets[static_cast<size_t>((value + 1) * 8)];
    sum += value;
    lagged += value * previous;
    previous = value;
  }
  // Bounds of five standard deviations.
  EXPECT_LT(std::abs(sum / kSamples), 5 * std::sqrt(1.0 / 3 / kSamples));
  EXPECT_LT(std::abs(lagged / kSamples), 5.0 / 3 / std::sqrt(double{kSamples}));
  for (int count : buckets) EXPECT_NEAR(count, kSamples / 16.0, 5 * std::sqrt(kSamples / 16.0));
}

TEST(Random, RealsAreUniform) {
  for (uint64_t seed : {0ULL, 1ULL, 0x9e3779b97f4a7c15ULL}) {
    expect_uniform<float>(seed);
    expect_uniform<double>(seed);
  }
}

TEST(Random, IntegersAreUniformFromMinusEightToEight) {
  std::map<int64_t, int> counts;
  for (int64_t i = 0; i < kSamples; ++i) {
    ++counts[random_value<int64_t>(7, i)];
    EXPECT_EQ(random_value<int32_t>(7, i), random_value<int64_t>(7, i));
  }
  ASSERT_EQ(counts.size(), 17U);
  EXPECT_EQ(counts.begin()->first, -8);
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, kSamples / 17.0, 5 * std::sqrt(kSamples / 17.0));
}

TEST(Random, ThePartsOfAComplexNumberAreIndependent) {
  double correlation = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    auto value = random_value<std::complex<double>>(3, i);
    ASSERT_LE(std::abs(value.real()), 1);
    ASSERT_LE(std::abs(value.imag()), 1);
    correlation += value.real() * value.imag();
  }
  EXPECT_LT(std::abs(correlation / kSamples), 5.0 / 3 / std::sqrt(double{kSamples}));
}

TEST(Random, IsAPureFunctionOfSeedAndIndex) {
  EXPECT_EQ(random_value<double>(5, 17), random_value<double>(5, 17));
  std::set<double> values;
  for (uint64_t seed = 0; seed < 100; ++seed)
    for (int64_t i = 0; i < 100; ++i) values.insert(random_value<double>(seed, i));
  EXPECT_EQ(values.size(), 10000U);
}

TEST(Random, SeedsOfTensorsDifferByNameAndSeed) {
  std::set<uint64_t> seeds;
  for (const char* name : {"", "A", "B", "C", "AB", "BA", "A1", "A2"})
    for (uint64_t seed = 0; seed < 100; ++seed) seeds.insert(tensor_seed(name, seed));
  EXPECT_EQ(seeds.size(), 800U);
  EXPECT_EQ(tensor_seed("A", 1), tensor_seed("A", 1));
}

}  // namespace
}  // namespace distal::core
