// Runs random programs in every mode of the threads engine and checks them. A program that fails is shrunk and printed
// with its seed. DISTAL_PROPERTY_SEED=n replays a seed. DISTAL_PROPERTY_COUNT=n or DISTAL_PROPERTY_SECONDS=n makes a
// long run, which begins at seed DISTAL_PROPERTY_FIRST if that is set.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>

#include "check.h"
#include "generate.h"
#include "regressions.h"
#include "shrink.h"

// The sanitizers call the given function before they end the process. Without a sanitizer this symbol is null.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace distal::core::property {
namespace {

#ifndef DISTAL_PROPERTY_PROGRAMS
#define DISTAL_PROPERTY_PROGRAMS 250
#endif
constexpr uint64_t kPrograms = DISTAL_PROPERTY_PROGRAMS;  // of one shard
constexpr uint64_t kShards = 8;
constexpr uint64_t kFirstSeed = 1;
constexpr unsigned kSecondsPerProgram = 60;

// ---- the seed is printed even if a program crashes or hangs the process ----

std::string current_program;  // what to print; prepared in advance, because a signal handler cannot build strings

void print_program() {
  ssize_t written = write(STDERR_FILENO, current_program.data(), current_program.size());
  (void)written;
}

void on_alarm(int) {
  print_program();
  static const char text[] = "it does not end\n";
  ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
  (void)written;
  std::_Exit(1);
}

void on_crash(int signal) {
  print_program();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void watch(uint64_t seed) {
  static bool installed = false;
  if (!installed) {
    installed = true;
    std::signal(SIGALRM, on_alarm);
    if (__sanitizer_set_death_callback != nullptr) {
      __sanitizer_set_death_callback(print_program);
    } else {
      for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(signal, on_crash);
    }
  }
  current_program = fmt::format("the program of DISTAL_PROPERTY_SEED={} was running\n", seed);
  alarm(kSecondsPerProgram);
}

// ---- one program ----

struct Tally {
  int passed = 0, refused = 0, failed = 0;
  std::map<std::string, int> features;

  void add(const Outcome& outcome) {
    if (outcome.kind == Outcome::Kind::Refused) ++refused;
    if (outcome.kind == Outcome::Kind::Failed) ++failed;
    if (outcome.kind != Outcome::Kind::Passed) return;
    ++passed;
    for (const std::string& f : outcome.features) ++features[f];
  }

  void print() const {
    std::cout << fmt::format("{} legal, {} refused, {} failed\n", passed, refused, failed);
    for (const std::string& f : all_features()) {
      auto found = features.find(f);
      std::cout << fmt::format("{:6}  {}\n", found == features.end() ? 0 : found->second, f);
    }
  }
};

std::string report(uint64_t seed, const std::string& text, const Outcome& outcome, const CheckOptions& options) {
  std::string small = shrink(text, [&](const std::string& smaller) {
    alarm(kSecondsPerProgram);
    Outcome now = check_program(smaller, options);
    return now.kind == Outcome::Kind::Failed && now.signature == outcome.signature;
  });
  Outcome now = check_program(small, options);
  return fmt::format(
      "{}: {}\n--- shrunk to\n{}--- which says: {}\n--- replay with DISTAL_PROPERTY_SEED={} property_test "
      "--gtest_filter=Property.Replay; the whole program is\n{}",
      outcome.signature, outcome.detail, small, now.detail, seed, text);
}

void run_seed(uint64_t seed, const CheckOptions& options, Tally& tally) {
  watch(seed);
  GeneratedProgram program = generate_program(seed);
  Outcome outcome = check_program(program.text, options);
  tally.add(outcome);
  if (outcome.kind == Outcome::Kind::Failed) {
    ADD_FAILURE() << report(seed, program.text, outcome, options);
  } else if (program.wrong && outcome.kind != Outcome::Kind::Refused) {
    ADD_FAILURE() << "seed " << seed << ": a program with a mistake in it was taken\n" << program.text;
  }
  alarm(0);
}

std::optional<uint64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

// ---- the tests ----

class Shard : public testing::TestWithParam<uint64_t> {};

TEST_P(Shard, AgreesWithTheReference) {
  Tally tally;
  uint64_t first = kFirstSeed + GetParam() * kPrograms;
  for (uint64_t seed = first; seed < first + kPrograms && !HasFailure(); ++seed) run_seed(seed, {}, tally);
  EXPECT_GE(tally.passed, static_cast<int>(kPrograms * 8 / 10));
}

INSTANTIATE_TEST_SUITE_P(Property, Shard, testing::Range(uint64_t{0}, kShards));

// The generator must keep covering every feature.
TEST(Property, EverythingOccurs) {
  if (kPrograms < 100) GTEST_SKIP() << "too few programs in this build to say so";
  constexpr int kLeast = 5;
  constexpr uint64_t kDefaultPrograms = kShards * kPrograms;
  Tally tally;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kDefaultPrograms; ++seed) {
    run_seed(seed, {false, true}, tally);
  }
  tally.print();
  EXPECT_GE(tally.passed, static_cast<int>(kDefaultPrograms * 8 / 10));
  EXPECT_GE(tally.refused, 10);
  for (const std::string& f : all_features()) EXPECT_GE(tally.features[f], kLeast) << f;
  for (const auto& [f, count] : tally.features) EXPECT_EQ(all_features().count(f), 1U) << f << " is not listed";
}

TEST(Property, GeneratedLeaves) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "compiled leaves are not instrumented";
#endif
  constexpr uint64_t kSeeds = 12;
  constexpr uint64_t kFirst = 1'000'000;  // different from the seeds of the shards
  Tally tally;
  for (uint64_t seed = kFirst; seed < kFirst + kSeeds && !HasFailure(); ++seed) run_seed(seed, {true, false}, tally);
  EXPECT_GE(tally.passed, static_cast<int>(kSeeds / 2));
}

TEST(Property, ProgramsThatFailedOnce) {
  for (const Regression& r : regressions()) {
    SCOPED_TRACE(r.what);
    for (int i = 0; i < 5; ++i) {  // some were races
      Outcome outcome = check_program(r.text);
      ASSERT_NE(outcome.kind, Outcome::Kind::Failed) << outcome.signature << ": " << outcome.detail;
      EXPECT_EQ(outcome.kind == Outcome::Kind::Refused, r.refused) << outcome.detail;
    }
  }
}

TEST(Property, Replay) {
  std::optional<uint64_t> seed = number_from("DISTAL_PROPERTY_SEED");
  if (!seed) GTEST_SKIP() << "set DISTAL_PROPERTY_SEED to replay a seed";
  std::cout << generate_program(*seed).text;
  Tally tally;
  run_seed(*seed, {true, false}, tally);
}

TEST(Property, Long) {
  std::optional<uint64_t> count = number_from("DISTAL_PROPERTY_COUNT"),
                          seconds = number_from("DISTAL_PROPERTY_SECONDS");
  if (!count && !seconds) GTEST_SKIP() << "set DISTAL_PROPERTY_COUNT or DISTAL_PROPERTY_SECONDS";
  auto now = [] { return std::chrono::steady_clock::now(); };
  auto end = now() + std::chrono::seconds(seconds.value_or(365 * 24 * 3600));
  // A run limited by time takes new seeds each time. Its reports print them.
  auto today = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  uint64_t first = number_from("DISTAL_PROPERTY_FIRST").value_or(count ? kFirstSeed : today);
  Tally tally;
  for (uint64_t i = 0; i < count.value_or(UINT64_MAX) && now() < end && !HasFailure(); ++i) {
    run_seed(first + i, {}, tally);
  }
  std::cout << fmt::format("seeds from {} on: ", first);
  tally.print();
}

}  // namespace
}  // namespace distal::core::property
