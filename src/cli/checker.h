#pragma once

#include <set>
#include <vector>

#include "check/reference.h"
#include "cli/dataset.h"
#include "store/tensor_store.h"

namespace distal::core {

// Compares what statements wrote with the reference. Tensors that no statement has written are read from the data set,
// not from their pieces, so that a misplaced piece is found too.
class ResultChecker {
 public:
  ResultChecker(const Plan& plan, const Dataset& data, const TensorStore& store)
      : plan_(plan), data_(data), store_(store) {}

  // To be called after each statement, in order. `before` holds the output as it was, if an earlier statement wrote it.
  void check(const StagePlan& stage, const std::vector<std::byte>& before, int64_t max_samples, uint64_t seed);
  const CheckResult& result() const { return result_; }
  bool is_written(int tensor) const { return written_.count(tensor) > 0; }

 private:
  const void* stored(int tensor, std::span<const int64_t> at) const;
  void add(const CheckResult& result);

  const Plan& plan_;
  const Dataset& data_;
  const TensorStore& store_;
  std::set<int> written_;
  CheckResult result_;
};

}  // namespace distal::core
