#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "plan/walk.h"

namespace distal::core::test {

// A piece that one processor sends to another.
struct Movement {
  std::string tensor;
  int64_t step = 0;
  int64_t source = 0;
  int64_t destination = 0;
  int64_t bytes = 0;
  bool release = false;  // a written or partial piece, not a fetch
};

class TrafficVisitor : public PlanVisitor {
 public:
  explicit TrafficVisitor(const Plan& plan) : plan_(plan) {}
  void begin(const StagePlan& stage) override { stage_ = &stage; }
  bool wants_leaves() const override { return false; }

  void fetch(const FetchStep& step) override {
    for (const Fetch& f : step.fetches) {
      for (const FetchPiece& p : f.pieces) {
        if (!moves(*stage_, step.acquire->acquire->place_levels, p.source, f.place)) continue;
        add(step.acquire->tensor, step.step, p.source, f.place, p.rect, false);
      }
    }
  }
  void release(const ReleaseStep& step) override {
    for (const Transfer& t : step.transfers) {
      if (moves(*stage_, step, t)) add(step.tensor, step.step, t.source, t.destination, t.rect, true);
    }
  }

  const std::vector<Movement>& movements() const { return movements_; }

 private:
  void add(int tensor, int64_t step, int64_t source, int64_t destination, const Rect& rect, bool release) {
    const TensorPlan& t = plan_.tensors[tensor];
    movements_.push_back({t.name, step, source, destination, rect.volume() * t.element_bytes, release});
  }

  const Plan& plan_;
  const StagePlan* stage_ = nullptr;
  std::vector<Movement> movements_;
};

inline std::vector<Movement> movements_of(const Plan& plan) {
  TrafficVisitor visitor(plan);
  walk(plan, visitor);
  return visitor.movements();
}

// The bytes of one tensor by pair of processors (source, destination), all steps together.
inline std::map<std::pair<int64_t, int64_t>, int64_t> bytes_by_pair(const std::vector<Movement>& movements,
                                                                    const std::string& tensor) {
  std::map<std::pair<int64_t, int64_t>, int64_t> out;
  for (const Movement& m : movements) {
    if (m.tensor == tensor) out[{m.source, m.destination}] += m.bytes;
  }
  return out;
}

}  // namespace distal::core::test
