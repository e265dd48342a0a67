#pragma once

#include "plan/access_rects.h"
#include "view/blocks.h"

namespace distal::core {

// What a processor computes in one run of the leaf, as a set of points over the statement's variables.
class Work {
 public:
  explicit Work(const StagePlan& stage);
  // The variables of the statement, by first appearance, as variables of the stage's space.
  const std::vector<int>& variables() const { return variables_; }
  // -1 if the processor has no iterations.
  int at(int64_t processor, const std::vector<int64_t>& values, BlockTable& blocks);

 private:
  const StagePlan& stage_;
  std::vector<int> variables_;
  AcquirePlan leaf_;  // as if the leaf acquired its points
  std::vector<Interval<int64_t>> intervals_;
};

}  // namespace distal::core
