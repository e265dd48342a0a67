#pragma once

#include <set>
#include <vector>

#include "check/reference.h"
#include "cli/dataset.h"
#include "session/session.h"

namespace distal::core {

// The most memory that a process needs to check a plan's statements, besides its pieces. `has_all_pieces`: this is the
// only process.
int64_t checking_bytes(const Plan& plan, int64_t max_samples, bool has_all_pieces);

// Compares the outputs of statements with the reference. For tensors that no statement has written it takes the
// elements from the data set, not from the pieces. So it also finds a piece that was placed wrongly.
class ResultChecker {
 public:
  // For one process, whose store has the pieces of all processors.
  ResultChecker(const Plan& plan, const Dataset& data, const TensorStore& store)
      : plan_(plan), data_(data), store_(store) {}
  // Of several processes, each checks the elements that it has, and all call check() together.
  ResultChecker(const Dataset& data, const Session& session)
      : plan_(session.plan()),
        data_(data),
        store_(session.store()),
        session_(session.has_all_pieces() ? nullptr : &session) {}

  // Call this after each statement, in order. `before` is the old content of the output, if an earlier statement wrote
  // it.
  void check(const StagePlan& stage, const std::vector<std::byte>& before, int64_t max_samples, uint64_t seed);
  const CheckResult& result() const { return result_; }
  bool is_written(int tensor) const { return written_.count(tensor) > 0; }

 private:
  bool has_all_pieces() const { return !session_; }
  // An element in a piece of this process; null if the process does not have it.
  const void* stored(int tensor, std::span<const int64_t> at) const;
  std::vector<std::byte> gather(int tensor) const {
    return has_all_pieces() ? store_.gather(tensor) : session_->gather(tensor);
  }
  void add(const CheckResult& result);

  const Plan& plan_;
  const Dataset& data_;
  const TensorStore& store_;
  const Session* session_ = nullptr;  // if there are several processes
  std::set<int> written_;
  CheckResult result_;
};

}  // namespace distal::core
