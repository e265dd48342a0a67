#include "plan/causes.h"

#include <gtest/gtest.h>

#include "support/programs.h"

namespace distal::core {
namespace {

std::vector<Cause> causes_in(const std::string& text, const std::string& settings = {}) {
  Plan plan = test::plan_text(text, settings);
  return causes_of(plan, count_cost(plan));
}

Cause cause_of(const std::vector<Cause>& causes, const std::string& tensor) {
  for (const Cause& cause : causes) {
    if (cause.tensor == tensor) return cause;
  }
  return {};
}

std::string copy(const std::string& to, const std::string& from) {
  return "machine M = Grid(2, 2)\ntensor A(8, 8) : " + to + " on M\ntensor B(8, 8) : " + from +
         " on M\nA(i, j) = B(i, j)\nschedule\n  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  communicate({A, B}, jo)\n";
}

// Panels of SUMMA go to all processors of a row or of a column; A stays where it is.
TEST(Causes, IndicesThatATensorLacks) {
  std::vector<Cause> causes = causes_in(test::algorithm_text("summa"), "gx=2,gy=3,ni=12,nj=12,nk=12,chunk=4");
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(cause_of(causes, "B").shared, (std::vector<SharedIndex>{{"j", 3}}));
  EXPECT_EQ(cause_of(causes, "C").shared, (std::vector<SharedIndex>{{"i", 2}}));
  EXPECT_EQ(cause_text(causes[0]), "processors share tiles, because j is cut by 3 and B has no such index");
  Plan plan = test::plan_algorithm("summa", "gx=2,gy=3,ni=12,nj=12,nk=12,chunk=4");
  PlanCost cost = count_cost(plan);
  for (const Cause& cause : causes) {
    EXPECT_EQ(cause.bytes, cost.tensors[cause.tensor].bytes);
    EXPECT_EQ(cause.messages, cost.tensors[cause.tensor].messages);
  }
}

TEST(Causes, PartialResults) {
  std::vector<Cause> causes = causes_in(test::algorithm_text("mttkrp"), "ni=8,nj=8,nk=8,nl=2,gx=2,gy=2,gz=3");
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(cause_text(causes[0]),
            "partial results are added, because j is cut by 2 and k is cut by 3 and A has no such index");
}

// A loop that was cut twice is one index.
TEST(Causes, SeveralLevelsOfOneIndex) {
  std::vector<Cause> causes = causes_in(R"(machine M = Grid(2) of Grid(3)
tensor a(12) : x -> x, x -> x on M
tensor b : -> 0, -> 0 on M
a(i) = b
schedule
  distribute({i}, {io}, {ii}, M[0])
  distribute({ii}, {iio}, {iii}, M[1])
  communicate({a, b}, iio)
)");
  EXPECT_EQ(cause_of(causes, "b").shared, (std::vector<SharedIndex>{{"i", 6}}));
}

TEST(Causes, FormatsAndReplicas) {
  std::vector<Cause> turned = causes_in(copy("xy -> xy", "xy -> yx"));
  ASSERT_EQ(turned.size(), 1u);
  EXPECT_EQ(turned[0].tensor, "B");
  EXPECT_EQ(cause_text(turned[0]), "its format differs from the tiles of the work");
  std::string replicated = copy("xy -> x*", "xy -> xy");
  std::vector<Cause> copies = causes_in(replicated);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(cause_text(copies[0]), "further replicas get copies");
  EXPECT_TRUE(causes_in(copy("xy -> xy", "xy -> xy")).empty());
}

TEST(Causes, ReplicasInWords) {
  Cause cause{"A(i) = B(i, j)", "A", true, true, 64, 2, {{"j", 4}}};
  EXPECT_EQ(cause_text(cause),
            "partial results are added, because j is cut by 4 and A has no such index; "
            "further replicas get copies");
}

}  // namespace
}  // namespace distal::core
