#include "plan/memory.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "plan/workspace.h"
#include "support/checked.h"

namespace distal::core {

namespace {

// Throws on overflow.
void add(int64_t& bytes, int64_t more) { bytes = checked_add(bytes, more); }

class NeedsVisitor : public PlanVisitor {
 public:
  NeedsVisitor(const Plan& plan, MemoryNeeds& needs) : plan_(plan), needs_(needs) {}

  void begin(const StagePlan& stage) override {
    needs_.buffers.emplace_back(stage.acquires.size());
    needs_.staging_bytes.emplace_back();
    fetches_.assign(stage.acquires.size(), {});
  }
  bool wants_leaves() const override { return false; }

  void fetch(const FetchStep& step) override {
    const AcquirePlan& a = *step.acquire;
    auto& needs = needs_.buffers.back()[a.acquire->id];
    for (const Fetch& f : step.fetches) {
      int64_t bytes = 0;
      for (size_t i : copied_rects(f.rects, views_of(plan_, a, f, needs_.options.reach))) {
        add(bytes, f.rects[i].volume() * plan_.tensors[a.tensor].element_bytes);
      }
      BufferNeed& need = needs[f.place];
      need.bytes = std::max(need.bytes, bytes);
      ++fetches_[a.acquire->id][f.place];
      for (const FetchPiece& p : f.pieces) {
        if (p.from != FetchPiece::From::Home) needs[p.source].depth = 2;
      }
    }
  }

  void release(const ReleaseStep& step) override {
    for (const Transfer& t : step.transfers) {
      if (!adds(t) || !needs_.options.in_different_processes(t.source, t.destination) ||
          needs_.options.is_remote_store(t))
        continue;
      int64_t element_bytes = plan_.tensors[step.tensor].element_bytes;
      int64_t& staging = needs_.staging_bytes.back()[t.destination];
      for (const Rect& part : staged_parts(t.rect, element_bytes)) {
        staging = std::max(staging, part.volume() * element_bytes);
      }
    }
  }

  // A place that fetches only once has nothing to prefetch.
  void end(const StagePlan& stage) override {
    for (const AcquirePlan& a : stage.acquires) {
      if (a.acquire->privilege != Privilege::Read) continue;
      for (auto& [place, need] : needs_.buffers.back()[a.acquire->id]) {
        if (fetches_[a.acquire->id][place] > 1) need.depth += needs_.options.prefetch_depth;
      }
    }
  }

 private:
  const Plan& plan_;
  MemoryNeeds& needs_;
  std::vector<std::unordered_map<int64_t, int64_t>> fetches_;  // [acquire id][place]
};

}  // namespace

std::vector<int64_t> views_of(const Plan& plan, const AcquirePlan& acquire, const Fetch& fetch, const Reach& reach) {
  std::vector<int64_t> out = fetch.views;
  if (reach == Reach::own() || acquire.acquire->privilege != Privilege::Read) return out;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] >= 0) continue;
    int64_t owner = plan.tensors[acquire.tensor].owners.single_owner(fetch.rects[i], fetch.place);
    if (owner >= 0 && reach.shares_memory(owner, fetch.place)) out[i] = owner;
  }
  return out;
}

std::vector<size_t> copied_rects(const std::vector<Rect>& rects, const std::vector<int64_t>& views) {
  auto is_before = [&](size_t i, size_t j) {
    return std::tie(rects[i].lo, rects[i].hi) < std::tie(rects[j].lo, rects[j].hi);
  };
  std::set<size_t, decltype(is_before)> seen(is_before);
  std::vector<size_t> out;
  for (size_t i = 0; i < rects.size(); ++i) {
    if (views[i] < 0 && (rects.size() == 1 || seen.insert(i).second)) out.push_back(i);
  }
  return out;
}

std::vector<Rect> staged_parts(const Rect& rect, int64_t element_bytes) {
  return cut_up(rect, std::max<int64_t>(1, kStagingBytes / element_bytes));
}

std::vector<int64_t> home_bytes(const Plan& plan) {
  std::vector<int64_t> out(static_cast<size_t>(plan.processors), 0);
  for (const TensorPlan& t : plan.tensors) {
    for (int64_t p = 0; p < t.owners.machine().processors; ++p) add(out[static_cast<size_t>(p)], t.piece_bytes(p));
  }
  return out;
}

MemoryNeeds memory_needs(const Plan& plan, const MemoryOptions& options) {
  MemoryNeeds needs;
  needs.options = options;
  needs.home_bytes = home_bytes(plan);
  NeedsVisitor visitor(plan, needs);
  walk(plan, visitor);

  std::vector<int64_t>& peak = needs.peak;
  peak = needs.home_bytes;
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    std::unordered_map<int64_t, int64_t> buffers;
    for (const auto& acquire : needs.buffers[s]) {
      for (const auto& [place, need] : acquire) add(buffers[place], checked_mul(need.bytes, need.depth));
    }
    for (const auto& [p, bytes] : needs.staging_bytes[s]) add(buffers[p], 2 * bytes);
    needs.workspace_bytes.push_back(workspace_bytes(plan.stages[s], plan.tensors[plan.stages[s].output].element_bytes));
    if (needs.workspace_bytes.back() > 0) {
      const StagePlan& stage = plan.stages[s];
      for (int64_t p : stage.places(stage.machine.levels())) add(buffers[p], needs.workspace_bytes.back());
    }
    for (const auto& [place, bytes] : buffers) {
      peak[place] = std::max(peak[place], checked_add(needs.home_bytes[place], bytes));
    }
  }
  for (int64_t bytes : peak) {
    needs.peak_per_processor = std::max(needs.peak_per_processor, bytes);
    add(needs.total, bytes);
  }
  return needs;
}

MemoryNeeds needs_with_prefetch(const Plan& plan, MemoryOptions options,
                                const std::function<bool(const MemoryNeeds&)>& fits) {
  constexpr int64_t kCheapPart = 4;  // prefetch is cheap if it adds at most 1/4 of what the run needs without it
  int max_depth = options.prefetch_depth;
  options.prefetch_depth = 0;
  MemoryNeeds least = memory_needs(plan, options);
  for (options.prefetch_depth = max_depth; options.prefetch_depth > 0; --options.prefetch_depth) {
    MemoryNeeds needs = memory_needs(plan, options);
    bool cheap = options.prefetch_depth == 1 || needs.total - least.total <= least.total / kCheapPart;
    if (cheap && fits(needs)) return needs;
  }
  return least;
}

}  // namespace distal::core
