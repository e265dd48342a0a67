// The checker of results, on stores in which the test has changed an element.

#include "cli/checker.h"

#include <gtest/gtest.h>

#include "support/run.h"

namespace distal::core {
namespace {

constexpr const char* kCopy = R"(machine M = Grid(2)
tensor a(6) : x -> * on M
tensor b(6) : x -> x on M
a(i) = 2 * b(i)
)";

// A program with its data in place. The test writes the output itself, in place of an engine.
class CheckedCopy {
 public:
  CheckedCopy()
      : plan_(test::plan_text(kCopy)),
        data_(plan_, {}, 1),
        allocator_(plan_.processors),
        store_(plan_, allocator_),
        checker_(plan_, data_, store_) {
    data_.place(b_, store_);
    for (int64_t p = 0; p < plan_.processors; ++p) {
      for (int64_t i = 0; i < 6; ++i) a(p, i) = 2 * start_of_b(i);
    }
  }

  double& a(int64_t processor, int64_t i) { return *reinterpret_cast<double*>(store_.element(a_, processor, {i})); }
  double& b(int64_t i) { return *reinterpret_cast<double*>(store_.element(b_, i / 3, {i})); }

  CheckResult checked(int64_t samples = 0) {
    checker_.check(plan_.stages[0], {}, samples, 1);
    return checker_.result();
  }

 private:
  double start_of_b(int64_t i) const {
    double value = 0;
    std::array<int64_t, 1> at{i};
    data_.read(b_, at, &value);
    return value;
  }

  Plan plan_;
  Dataset data_;
  Allocator allocator_;
  TensorStore store_;
  ResultChecker checker_;
  int a_ = plan_.tensor_index("a"), b_ = plan_.tensor_index("b");
};

TEST(Checker, ARightResultIsRight) {
  for (int64_t samples : {0, 1000}) {
    CheckResult result = CheckedCopy().checked(samples);
    EXPECT_TRUE(result.ok) << result.first_wrong;
    EXPECT_EQ(result.checked, 6);
    EXPECT_EQ(result.max_relative_error, 0);
  }
}

TEST(Checker, AWrongElementIsFound) {
  for (int64_t samples : {0, 1000}) {
    CheckedCopy run;
    for (int64_t p : {0, 1}) run.a(p, 4) += 1;
    CheckResult result = run.checked(samples);
    EXPECT_FALSE(result.ok);
    EXPECT_EQ(result.first_wrong.rfind("a(4) is ", 0), 0u) << result.first_wrong;
  }
}

TEST(Checker, AReplicaThatDiffersIsFound) {
  CheckedCopy run;
  run.a(1, 2) += 1;
  CheckResult result = run.checked();
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.first_wrong.rfind("the replicas of a differ at ", 0), 0u) << result.first_wrong;
}

// The checker computes inputs anew. If it read the pieces, it would accept a result of overwritten inputs.
TEST(Checker, AChangedInputDoesNotChangeWhatIsRight) {
  CheckedCopy run;
  run.b(3) += 1;
  EXPECT_TRUE(run.checked().ok);
}

TEST(Checker, AFailedCheckStaysFailed) {
  CheckedCopy run;
  for (int64_t p : {0, 1}) run.a(p, 0) += 1;
  EXPECT_FALSE(run.checked().ok);
  for (int64_t p : {0, 1}) run.a(p, 0) -= 1;
  EXPECT_FALSE(run.checked().ok);
}

}  // namespace
}  // namespace distal::core
