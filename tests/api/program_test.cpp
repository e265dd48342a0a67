// Programs of .distal files in an application.

#include <distal/distal.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "errors.h"

namespace distal {
namespace {

const std::string folder = std::string(DISTAL_SOURCE_DIR) + "/algorithms";

double value_at(const std::vector<int64_t>& at, double salt) {
  double out = salt;
  for (int64_t c : at) out = out * 3 + static_cast<double>(c);
  return out;
}

TEST(ProgramTest, RunsAFile) {
  Program summa = Program::load(folder + "/summa.distal", {{"ni", 30}, {"nj", 20}, {"nk", 25}});
  EXPECT_EQ(summa.tensors(), (std::vector<std::string>{"A", "B", "C"}));
  auto A = summa.tensor<double>("A"), B = summa.tensor<double>("B"), C = summa.tensor<double>("C");
  EXPECT_EQ(B.shape(), (std::vector<int64_t>{30, 25}));
  B.fill([](const auto& at) { return value_at(at, 1); });
  C.fill([](const auto& at) { return value_at(at, 2); });
  RunReport report = summa.run();
  EXPECT_EQ(report.bytes_moved, summa.kernel().cost().bytes_moved);
  auto expect_product = [&](int64_t depth) {
    A.for_each([&](const std::vector<int64_t>& at, double got) {
      double want = 0;
      for (int64_t k = 0; k < depth; ++k) want += value_at({at[0], k}, 1) * value_at({k, at[1]}, 2);
      ASSERT_EQ(got, want);
    });
  };
  expect_product(25);
  summa.param("nk") = 7;
  B.fill([](const auto& at) { return value_at(at, 1); });
  C.fill([](const auto& at) { return value_at(at, 2); });
  summa.run();
  expect_product(7);
}

TEST(ProgramTest, HasTheCostOfTheFile) {
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".distal") continue;
    Program program = Program::load(file.path().string());
    Program again = Program::parse(program.kernel().text());
    Cost cost = program.kernel().cost(), same = again.kernel().cost();
    EXPECT_EQ(cost.bytes_moved, same.bytes_moved) << file.path();
    EXPECT_EQ(cost.peak_bytes_per_processor, same.peak_bytes_per_processor) << file.path();
    EXPECT_EQ(program.kernel().program(), again.kernel().program()) << file.path();
  }
}

TEST(ProgramTest, TakesATypeAndBuffers) {
  Program program = Program::parse("tensor a(4)\ntensor b(4)\na(i) = 2 * b(i)\n", {}, ElementKind::Int64);
  std::vector<int64_t> data{1, 2, 3, 4};
  auto b = program.tensor<int64_t>("b");
  b.bind(0, data);
  program.run();
  EXPECT_EQ(program.tensor<int64_t>("a").at({3}), 8);
  EXPECT_EQ(message_of([&] { program.tensor<double>("a"); }), "tensor a has elements of type int64, not double");
}

TEST(ProgramTest, SeveralStatementsOfOneTensor) {
  Program program = Program::parse("tensor a(4)\ntensor b(4)\na(i) = b(i)\na(i) += b(i) * b(i)\n");
  program.tensor<double>("b").fill([](const auto& at) { return double(at[0]); });
  program.run();
  EXPECT_EQ(program.tensor<double>("a").at({3}), 12);
}

TEST(ProgramTest, IsWatchedAndCancelled) {
  Program summa = Program::load(folder + "/summa.distal", {{"ni", 30}, {"nj", 20}, {"nk", 25}, {"chunk", 5}});
  Progress progress;
  progress.begin("multiplying", 20);
  for (int run = 1; run <= 3; ++run) {
    summa.run({.progress = &progress});
    EXPECT_EQ(progress.state().done, run * 4 * 5);  // 4 processors in 5 steps
  }
  progress.cancel();
  EXPECT_THROW(summa.run({.progress = &progress}), Interrupted);
  Program other = Program::load(folder + "/summa.distal", {{"ni", 30}, {"nj", 20}, {"nk", 25}});
  EXPECT_THROW(other.run({.progress = &progress}), Interrupted);  // also while tasks are made
  summa.run();
  EXPECT_EQ(progress.state().what, "multiplying");
}

TEST(ProgramTest, RefusesWithThePlaceInTheFile) {
  EXPECT_EQ(message_of([] { Program::load("/nonexistent.distal"); }),
            "cannot read /nonexistent.distal: No such file or directory");
  try {
    Program::parse("tensor a(4)\na(i) = c(i)\n");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.span().line, 2);
    EXPECT_EQ(e.message(), "unknown tensor `c`");
  }
  Program program = Program::parse("param n = 4\ntensor a(n)\ntensor b(n)\na(i) = b(i)\n");
  EXPECT_EQ(message_of([] {
              Program::parse("param n = 4\ntensor a(n)\ntensor b(n)\na(i) = b(i)\n", {{"m", 1}});
            }),
            "cannot set `m` to 1: there is no such param");
  EXPECT_EQ(error_of([&] { program.tensor("c"); }),
            "error: there is no tensor c in the program\n  help: the tensors are `a` and `b`");
  EXPECT_EQ(error_of([&] { program.param("nn"); }),
            "error: there is no param nn in the program\n  help: the params are `n`; did you mean `n`?");
  program.param("n") = -1;
  EXPECT_NE(message_of([&] { program.run(); }), "");
}

}  // namespace
}  // namespace distal
