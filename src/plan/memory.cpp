#include "plan/memory.h"

#include <algorithm>

#include "plan/workspace.h"

namespace distal::core {

namespace {

class NeedsVisitor : public PlanVisitor {
 public:
  NeedsVisitor(const Plan& plan, Reach reach, MemoryNeeds& needs) : plan_(plan), reach_(reach), needs_(needs) {}

  void begin(const StagePlan& stage) override { needs_.buffers.emplace_back(stage.acquires.size()); }
  bool wants_leaves() const override { return false; }

  void fetch(const FetchStep& step) override {
    const AcquirePlan& a = *step.acquire;
    auto& needs = needs_.buffers.back()[a.acquire->id];
    for (const Fetch& f : step.fetches) {
      int64_t bytes = 0;
      for (size_t i = 0; i < f.rects.size(); ++i) {
        if (is_repeated(f, i) || view_of(plan_, a, f, i, reach_) >= 0) continue;
        bytes += f.rects[i].volume() * plan_.tensors[a.tensor].element_bytes;
      }
      BufferNeed& need = needs[f.place];
      need.bytes = std::max(need.bytes, bytes);
      for (const FetchPiece& p : f.pieces) {
        if (p.from != FetchPiece::From::Home) needs[p.source].depth = 2;
      }
    }
  }

  static bool is_repeated(const Fetch& f, size_t i) {
    return std::find(f.rects.begin(), f.rects.begin() + static_cast<std::ptrdiff_t>(i), f.rects[i]) !=
           f.rects.begin() + static_cast<std::ptrdiff_t>(i);
  }

 private:
  const Plan& plan_;
  Reach reach_;
  MemoryNeeds& needs_;
};

}  // namespace

int64_t view_of(const Plan& plan, const AcquirePlan& acquire, const Fetch& fetch, size_t rect, Reach reach) {
  if (fetch.views[rect] >= 0) return fetch.views[rect];
  if (reach == Reach::Own || acquire.acquire->privilege != Privilege::Read) return -1;
  return plan.tensors[acquire.tensor].owners.single_owner(fetch.rects[rect], fetch.place);
}

MemoryNeeds memory_needs(const Plan& plan, Reach reach) {
  MemoryNeeds needs;
  needs.reach = reach;
  needs.home_bytes.assign(static_cast<size_t>(plan.processors), 0);
  for (const TensorPlan& t : plan.tensors) {
    for (int64_t p = 0; p < t.owners.machine().processors; ++p) {
      if (t.owners.owns_any(p)) needs.home_bytes[p] += t.owners.piece_of(p).volume() * t.element_bytes;
    }
  }
  NeedsVisitor visitor(plan, reach, needs);
  walk(plan, visitor);

  std::vector<int64_t> peak = needs.home_bytes;
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    std::unordered_map<int64_t, int64_t> buffers;
    for (const auto& acquire : needs.buffers[s]) {
      for (const auto& [place, need] : acquire) buffers[place] += need.bytes * need.depth;
    }
    needs.workspace_bytes.push_back(workspace_bytes(plan.stages[s], plan.tensors[plan.stages[s].output].element_bytes));
    if (needs.workspace_bytes.back() > 0) {
      const StagePlan& stage = plan.stages[s];
      for (int64_t p : stage.places(stage.machine.levels())) buffers[p] += needs.workspace_bytes.back();
    }
    for (const auto& [place, bytes] : buffers) peak[place] = std::max(peak[place], needs.home_bytes[place] + bytes);
  }
  for (int64_t bytes : peak) {
    needs.peak_per_processor = std::max(needs.peak_per_processor, bytes);
    needs.total += bytes;
  }
  return needs;
}

}  // namespace distal::core
