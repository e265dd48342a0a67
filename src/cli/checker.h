#pragma once

#include <functional>
#include <set>
#include <vector>

#include "check/reference.h"
#include "cli/dataset.h"
#include "store/tensor_store.h"

namespace distal::core {

// The bytes of a whole tensor.
int64_t whole_bytes(const Plan& plan, int tensor);

// The most memory that a process needs to check a plan's statements, besides its pieces. `has_all_pieces`: this is the
// only process.
int64_t checking_bytes(const Plan& plan, int64_t max_samples, bool has_all_pieces);

// Compares the outputs of statements with the reference. It takes the elements of tensors that no statement has written
// from the data set, not from the pieces. So it also finds a piece that was placed wrongly.
class ResultChecker {
 public:
  // For one process, whose store has the pieces of all processors.
  ResultChecker(const Plan& plan, const Dataset& data, const TensorStore& store)
      : plan_(plan), data_(data), store_(store) {}
  // For one of several processes: it checks the elements that it has. `gather_whole` returns a whole tensor; all
  // processes call it together.
  using IsLocal = std::function<bool(int64_t processor)>;
  using Gather = std::function<std::vector<std::byte>(int tensor)>;
  ResultChecker(const Plan& plan, const Dataset& data, const TensorStore& store, IsLocal is_local, Gather gather_whole)
      : plan_(plan),
        data_(data),
        store_(store),
        is_local_(std::move(is_local)),
        gather_whole_(std::move(gather_whole)) {}

  // Call this after each statement, in order. `before` is the old content of the output, if an earlier statement wrote
  // it.
  void check(const StagePlan& stage, const std::vector<std::byte>& before, int64_t max_samples, uint64_t seed);
  const CheckResult& result() const { return result_; }
  bool is_written(int tensor) const { return written_.count(tensor) > 0; }

 private:
  bool has_all_pieces() const { return !is_local_; }
  // An element in a piece of this process; null if the process does not have it.
  const void* stored(int tensor, std::span<const int64_t> at) const;
  std::vector<std::byte> gather(int tensor) const {
    return has_all_pieces() ? store_.gather(tensor) : gather_whole_(tensor);
  }
  void add(const CheckResult& result);

  const Plan& plan_;
  const Dataset& data_;
  const TensorStore& store_;
  IsLocal is_local_;
  Gather gather_whole_;
  std::set<int> written_;
  CheckResult result_;
};

}  // namespace distal::core
