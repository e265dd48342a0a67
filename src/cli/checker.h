#pragma once

#include <functional>
#include <set>
#include <vector>

#include "check/reference.h"
#include "cli/dataset.h"
#include "store/tensor_store.h"

namespace distal::core {

// Of a tensor in one piece.
int64_t whole_bytes(const Plan& plan, int tensor);

// What a process holds at most to check a plan's statements, beside its pieces; one that is alone has all of them.
int64_t checking_bytes(const Plan& plan, int64_t max_samples, bool alone);

// Compares what statements wrote with the reference. Tensors that no statement has written are read from the data set,
// not from their pieces, so that a misplaced piece is found too.
class ResultChecker {
 public:
  // With the pieces of all processors in one store.
  ResultChecker(const Plan& plan, const Dataset& data, const TensorStore& store)
      : plan_(plan), data_(data), store_(store) {}
  // Each process checks what it has. `gathered` gives a whole tensor, where all processes ask for it.
  using IsHere = std::function<bool(int64_t processor)>;
  using Gather = std::function<std::vector<std::byte>(int tensor)>;
  ResultChecker(const Plan& plan, const Dataset& data, const TensorStore& store, IsHere is_here, Gather gathered)
      : plan_(plan), data_(data), store_(store), is_here_(std::move(is_here)), gathered_(std::move(gathered)) {}

  // To be called after each statement, in order. `before` holds the output as it was, if an earlier statement wrote it.
  void check(const StagePlan& stage, const std::vector<std::byte>& before, int64_t max_samples, uint64_t seed);
  const CheckResult& result() const { return result_; }
  bool is_written(int tensor) const { return written_.count(tensor) > 0; }

 private:
  bool is_alone() const { return !is_here_; }
  // In a piece of this process; null if it has none of that element.
  const void* stored(int tensor, std::span<const int64_t> at) const;
  std::vector<std::byte> gather(int tensor) const { return is_alone() ? store_.gather(tensor) : gathered_(tensor); }
  void add(const CheckResult& result);

  const Plan& plan_;
  const Dataset& data_;
  const TensorStore& store_;
  IsHere is_here_;
  Gather gathered_;
  std::set<int> written_;
  CheckResult result_;
};

}  // namespace distal::core
