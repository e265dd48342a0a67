#pragma once

#include <algorithm>
#include <vector>

#include "plan/walk.h"

namespace distal::core::test {

// Adds up what every processor receives of operands and sends of results.
class Exchange : public PlanVisitor {
 public:
  explicit Exchange(const Plan& plan) : plan_(plan), bytes_(static_cast<size_t>(plan.processors), 0) {}

  void begin(const StagePlan& stage) override { stage_ = &stage; }
  bool wants_leaves() const override { return false; }
  void fetch(const FetchStep& step) override {
    for (const Fetch& fetch : step.fetches) {
      for (const FetchPiece& piece : fetch.pieces)
        add(fetch.place, piece.source, piece.rect, step.acquire->tensor, fetch.place);
    }
  }
  void release(const ReleaseStep& step) override {
    for (const Transfer& t : step.transfers) {
      add(t.destination, t.source, t.rect, step.tensor, t.source);
      combines_partials_ = combines_partials_ || t.kind == Transfer::Kind::CombinePartial;
    }
  }
  // Whether partials are combined on the way to their owners.
  bool combines_partials() const { return combines_partials_; }
  int64_t most() const { return *std::max_element(bytes_.begin(), bytes_.end()); }

 private:
  void add(int64_t to, int64_t from, const Rect& rect, int tensor, int64_t who) {
    if (moves(*stage_, stage_->machine.levels(), from, to))
      bytes_[who] += rect.volume() * plan_.tensors[tensor].element_bytes;
  }

  const Plan& plan_;
  const StagePlan* stage_ = nullptr;
  std::vector<int64_t> bytes_;
  bool combines_partials_ = false;
};

inline Exchange exchange_of(const Plan& plan) {
  Exchange exchange(plan);
  walk(plan, exchange);
  return exchange;
}

}  // namespace distal::core::test
