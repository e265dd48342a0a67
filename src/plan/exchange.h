#pragma once

#include <cstdint>
#include <vector>

#include "plan/walk.h"

namespace distal::core {

// The processors of a certificate: those of the outermost level at which some tensor of the statement is acquired. A
// unit is one of them. It consists of last-level processors with consecutive numbers.
struct Units {
  int levels = 1;    // units differ in the coordinates of this many outermost levels
  int64_t size = 1;  // the last-level processors of a unit
  int64_t count = 1;

  int64_t of(int64_t processor) const { return processor / size; }
};

Units units_of(const Plan& plan, const StagePlan& stage);

// Counts by unit, while a plan is walked, the bytes of operands that the unit receives from others, and of results and
// partials that it sends to others. A copy to a further replica of the result counts where it arrives.
class ExchangeVisitor : public PlanVisitor {
 public:
  ExchangeVisitor(const Plan& plan, const Units& units);

  bool wants_leaves() const override { return false; }
  void fetch(const FetchStep& step) override;
  void release(const ReleaseStep& step) override;

  const std::vector<int64_t>& bytes() const { return bytes_; }
  int64_t most() const { return most_; }  // of one unit

 private:
  void add(int tensor, const Rect& rect, int64_t source, int64_t destination, int64_t counted_at);

  const Plan& plan_;
  Units units_;
  std::vector<int64_t> bytes_;
  int64_t most_ = 0;
};

// The counts of a whole stage.
std::vector<int64_t> exchanged_bytes(const Plan& plan, const StagePlan& stage, const Units& units);

// By unit: how many elements of the tensor its processors own together.
std::vector<int64_t> owned_elements(const Ownership& owners, const Units& units);

}  // namespace distal::core
