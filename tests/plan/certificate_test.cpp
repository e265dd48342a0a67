// What processors exchange, and how far that is from the least.

#include "plan/certificate.h"

#include <gtest/gtest.h>

#include "plan/exchange.h"
#include "support/programs.h"

namespace distal::core {
namespace {

using test::algorithm_names;
using test::algorithm_text;
using test::plan_algorithm;
using test::plan_module;
using test::plan_text;

constexpr int64_t kDouble = 8;

Certificate certificate_of(const std::string& text, const std::string& settings = {}) {
  std::vector<Certificate> all = certificates(plan_text(text, settings));
  EXPECT_EQ(all.size(), 1u);
  return all[0];
}

std::string gemm(const std::string& machine, const std::string& formats, const std::string& schedule) {
  return "machine M = " + machine + "\ntensor A(16, 16) : " + formats + "\ntensor B(16, 16) : " + formats +
         "\ntensor C(16, 16) : " + formats + "\nA(i, j) = B(i, k) * C(k, j)\nschedule\n" + schedule;
}

// ---- the known tight cases, on their best grids ----

TEST(Tight, GemmInThreeRegimes) {
  auto optimality = [](const std::string& sizes) {
    return certificates(plan_algorithm("cosma", sizes))[0].optimality.value();
  };
  EXPECT_DOUBLE_EQ(optimality("ni=4096,nj=64,nk=64,gx=64,gy=1,gz=1,steps=1"), 1);
  EXPECT_DOUBLE_EQ(optimality("ni=512,nj=512,nk=64,gx=8,gy=8,gz=1,steps=1"), 1);
  EXPECT_DOUBLE_EQ(optimality("ni=256,nj=256,nk=256,gx=4,gy=4,gz=4,steps=1"), 1);
}

// Every tensor is spread evenly over the processors that need it.
TEST(Tight, MatrixVector) {
  Certificate c = certificate_of(R"(machine M = Grid(8) of Grid(8)
tensor a(512) : x -> x, x -> x on M
tensor B(512, 512) : xy -> x, xy -> y on M
tensor c(512) : x -> *, x -> x on M
a(i) = B(i, j) * c(j)
schedule
  distribute(i, io, ii, M[0])
  distribute(j, jo, ji, M[1])
  communicate({a, B, c}, jo)
)");
  EXPECT_EQ(c.exchanged_bytes, (64 - 8) * kDouble);
  EXPECT_DOUBLE_EQ(c.optimality.value(), 1);
}

TEST(Tight, Ttm) {
  Certificate c = certificate_of(R"(machine M = Grid(8)
tensor A(64, 4, 4) : xyz -> x on M
tensor B(64, 4, 16) : xyz -> x on M
tensor C(16, 4) : xy -> x on M
A(i, j, l) = B(i, j, k) * C(k, l)
schedule
  distribute(i, io, ii, M)
  communicate({A, B, C}, io)
)");
  EXPECT_EQ(c.lower_bound_bytes, (16 * 4 - 8) * kDouble);
  EXPECT_DOUBLE_EQ(c.optimality.value(), 1);
}

TEST(Tight, Ttv) {
  Certificate c = certificate_of(R"(machine M = Grid(8)
tensor A(64, 4) : xy -> x on M
tensor B(64, 4, 16) : xyz -> x on M
tensor c(16) : x -> x on M
A(i, j) = B(i, j, k) * c(k)
schedule
  distribute(i, io, ii, M)
  communicate({A, B, c}, io)
)");
  EXPECT_EQ(c.lower_bound_bytes, (16 - 2) * kDouble);
  EXPECT_DOUBLE_EQ(c.optimality.value(), 1);
}

// Each factor is spread over the four processors that share its panel.
TEST(Tight, Mttkrp) {
  Certificate c = certificate_of(R"(machine M = Grid(2, 2, 2)
tensor A(16, 8) : xy -> 0x0 on M
tensor B(16, 16, 16) : xyz -> xyz on M
tensor C(16, 8) : xy -> *x* on M
tensor D(16, 8) : xy -> **x on M
A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
schedule
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  communicate({A, B, C, D}, ko)
)");
  EXPECT_EQ(c.exchanged_bytes, 8 * 8 * kDouble);
  EXPECT_GT(c.optimality.value(), 1);
}

// ---- what counts ----

TEST(Exchange, OperandsCountWhereTheyArrive) {
  Certificate c = certificate_of(gemm("Grid(2, 2)", "xy -> xy on M",
                                      "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  communicate({A, B, C}, jo)\n"));
  EXPECT_EQ(c.exchanged_bytes, 2 * 64 * kDouble);
  EXPECT_EQ(c.processors, 4);
}

TEST(Exchange, PartialsCountWhereTheyLeave) {
  Certificate c =
      certificate_of(gemm("Grid(4)", "xy -> 0 on M", "  distribute(k, ko, ki, M)\n  communicate({A, B, C}, ko)\n"));
  // Four columns of B, four rows of C, and a partial of A. The processor (0) has all of them.
  EXPECT_EQ(c.exchanged_bytes, (2 * 64 + 256) * kDouble);
  EXPECT_EQ(c.busiest, "(1)");
}

TEST(Exchange, FurtherReplicasCountWhereTheyArrive) {
  Certificate c = certificate_of(
      "machine M = Grid(3, 4)\ntensor a(9) : x -> x* on M\ntensor b(9) : x -> x0 on M\na(i) = 2 * b(i)\nschedule\n"
      "  distribute(i, io, ii, a)\n  communicate({a, b}, io)\n");
  EXPECT_EQ(c.exchanged_bytes, 3 * kDouble);
  EXPECT_EQ(c.busiest, "(0, 1)");
  EXPECT_EQ(c.lower_bound_bytes, 0);
  EXPECT_FALSE(c.optimality.has_value());
}

// The statement runs on two processors, and the replicas of its result lie on four.
TEST(Exchange, AProcessorOutsideOfTheGridHasANumber) {
  Certificate c = certificate_of(
      "machine L = Grid(4)\nmachine T = Grid(2)\ntensor a(8) : x -> * on L\ntensor b(8) : x -> x on T\na(i) = b(i)\n"
      "schedule\n  distribute(i, io, ii, T)\n  communicate({a, b}, io)\n");
  EXPECT_EQ(c.processors, 4);
  EXPECT_EQ(c.exchanged_bytes, 8 * kDouble);
  EXPECT_EQ(c.busiest, "2");
}

TEST(Exchange, AnUpdateOwnsItsResult) {
  std::string text = gemm("Grid(2, 2)", "xy -> xy on M",
                          "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  communicate({A, B, C}, jo)\n");
  Certificate set = certificate_of(text);
  Certificate add = certificate_of(text.replace(text.find(" = B(i"), 2, " +="));
  EXPECT_EQ(add.exchanged_bytes, set.exchanged_bytes);
  EXPECT_EQ(add.bound, set.bound);
}

// The upper-level processor owns what its parts own, each element once.
TEST(Levels, TheUnitIsAProcessorOfTheLevelThatAcquires) {
  std::string schedule =
      "  distribute({i, j}, {io, jo}, {ii, ji}, M[0])\n  communicate({A, B, C}, jo)\n"
      "  distribute(ii, iio, iii, M[1])\n";
  Certificate blocks = certificate_of(gemm("Grid(2, 2) of Grid(2)", "xy -> xy, xy -> x on M", schedule));
  Certificate replicas = certificate_of(gemm("Grid(2, 2) of Grid(2)", "xy -> xy, xy -> * on M", schedule));
  Certificate flat = certificate_of(gemm(
      "Grid(2, 2)", "xy -> xy on M", "  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  communicate({A, B, C}, jo)\n"));
  EXPECT_EQ(blocks.processors, 4);
  EXPECT_EQ(blocks.exchanged_bytes, flat.exchanged_bytes);
  EXPECT_EQ(replicas.lower_bound_bytes, flat.lower_bound_bytes);
  EXPECT_EQ(
      blocks.bound,
      "a processor is one of level 0, with all that its 2 parts own and compute; holds for schedules that share no "
      "copy above it\n" +
          flat.bound);
}

TEST(Statements, OneCertificateEachAndTheWorstStandsForAll) {
  std::vector<Certificate> all = certificates(plan_text(R"(machine M = Grid(4)
tensor a(8) : x -> x on M
tensor b(8) : x -> x on M
tensor c(8) : x -> 0 on M
a(i) = 3 * b(i)
schedule
  distribute(i, io, ii, M)
  communicate({a, b}, io)
c(i) = a(i)
schedule
  distribute(i, io, ii, M)
  communicate({a, c}, io)
)"));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].exchanged_bytes, 0);
  EXPECT_EQ(all[1].exchanged_bytes, 2 * kDouble);
  EXPECT_EQ(worst(all).statement, all[1].optimality ? all[1].statement : all[0].statement);
}

TEST(Statements, ASumHasTheBoundOfItsLargestTerm) {
  Certificate c = certificate_of(R"(machine M = Grid(4)
tensor A(16, 16) : xy -> x on M
tensor B(16, 16) : xy -> x on M
tensor C(16, 16) : xy -> x on M
tensor D(16, 16) : xy -> x on M
A(i, j) = D(i, j) + B(i, k) * C(k, j)
schedule
  distribute(i, io, ii, M)
  communicate({A, B, C, D}, io)
)");
  EXPECT_EQ(c.bound.substr(0, c.bound.find('\n')), "term B(i, k) * C(k, j)");
  EXPECT_GT(c.lower_bound_bytes, 0);
}

TEST(Bound, NeverAboveWhatAnAlgorithmExchanges) {
  for (const std::string& name : algorithm_names()) {
    Module module = test::parse_text(algorithm_text(name));
    for (int64_t extent : {1, 2, 3}) {
      Bindings grid;
      for (const Param& p : module.params) {
        if (p.name[0] == 'g') grid[p.name] = extent;
      }
      for (const Certificate& c : certificates(plan_module(module, grid))) {
        EXPECT_LE(c.lower_bound_bytes, c.exchanged_bytes) << name << " on " << extent << "\n" << c.bound;
      }
    }
  }
}

}  // namespace
}  // namespace distal::core
