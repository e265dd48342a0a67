#include "plan/cost.h"

#include <algorithm>
#include <set>

#include "lang/ranges.h"
#include "plan/memory.h"
#include "plan/work.h"

namespace distal::core {

namespace {

int64_t multiplications(const Expr& expr) {
  return fold(expr, Overloaded{[](const Access&) { return int64_t{0}; }, [](const Literal&) { return int64_t{0}; },
                               [](const ParamUse&) { return int64_t{0}; },
                               [](const Negate&, int64_t operand) { return operand; },
                               [](const Binary&, int64_t left, int64_t right) { return left + right + 1; }});
}

// Whether two or more places need an element that moves at this step. The place that already has the element counts
// too, if it needs it.
bool is_broadcast(const StagePlan& stage, const FetchStep& step) {
  struct Wanted {
    const Rect* rect;
    int64_t place;
    bool moved;
  };
  int levels = step.acquire->acquire->place_levels;
  std::set<int64_t> moving;
  for (const Fetch& f : step.fetches) {
    for (const FetchPiece& p : f.pieces) {
      if (moves(stage, levels, p.source, f.place)) moving.insert(f.place);
    }
  }
  std::vector<Wanted> wanted;
  for (const auto& [rects, places] : *step.requests) {
    bool moved = std::any_of(places.begin(), places.end(), [&](int64_t p) { return moving.count(p) > 0; });
    if (moved && places.size() > 1) return true;
    for (const Rect& r : rects) wanted.push_back({&r, places[0], moved});
  }
  if (wanted.empty() || wanted[0].rect->lo.empty()) return false;
  std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) { return a.rect->lo < b.rect->lo; });
  for (size_t i = 0; i < wanted.size(); ++i) {
    for (size_t j = i + 1; j < wanted.size() && wanted[j].rect->lo[0] < wanted[i].rect->hi[0]; ++j) {
      bool counts = (wanted[i].moved || wanted[j].moved) && wanted[i].place != wanted[j].place;
      if (counts && overlap(*wanted[i].rect, *wanted[j].rect)) return true;
    }
  }
  return false;
}

class CostVisitor : public PlanVisitor {
 public:
  CostVisitor(const Plan& plan, PlanCost& cost)
      : plan_(plan),
        cost_(cost),
        received_(static_cast<size_t>(plan.processors), 0),
        sent_(static_cast<size_t>(plan.processors), 0) {
    for (const TensorPlan& t : plan.tensors) cost_.tensors[t.name] = {};
    size_t levels = 1;
    for (const StagePlan& s : plan.stages) levels = std::max<size_t>(levels, s.machine.levels());
    cost_.bytes_by_level.assign(levels, 0);
  }

  void begin(const StagePlan& stage) override {
    stage_ = &stage;
    cost_.exact_flops += flops_of(plan_, stage);
  }
  bool wants_leaves() const override { return false; }

  void fetch(const FetchStep& step) override {
    const AcquirePlan& a = *step.acquire;
    StepCost made = start(a.tensor, a.acquire->at, step.step);
    bool several = false;
    std::set<int64_t> sources;
    for (const Fetch& f : step.fetches) {
      sources.clear();
      for (const FetchPiece& p : f.pieces) {
        if (!moves(*stage_, a.acquire->place_levels, p.source, f.place)) continue;
        count(made, a.tensor, p.rect, p.source, f.place);
        sources.insert(p.source);
      }
      made.messages += static_cast<int64_t>(sources.size());
      several = several || sources.size() > 1;
    }
    if (made.bytes == 0) return;
    if (is_broadcast(*stage_, step)) {
      made.pattern = Pattern::Broadcast;
    } else {
      made.pattern = several ? Pattern::Gather : Pattern::Shift;
    }
    finish(made);
  }

  void release(const ReleaseStep& step) override {
    StepCost made = start(step.tensor, step.acquire ? step.acquire->acquire->at : "end", step.step);
    std::set<std::pair<int64_t, int64_t>> pairs;  // destination, source
    bool combined = false, replicated = false;
    for (const Transfer& t : step.transfers) {
      if (!moves(*stage_, step, t)) continue;
      count(made, step.tensor, t.rect, t.source, t.destination);
      pairs.insert({t.destination, t.source});
      replicated = replicated || t.kind == Transfer::Kind::Replicate;
      combined = combined || adds(t);
    }
    made.messages = static_cast<int64_t>(pairs.size());
    if (made.bytes == 0) return;
    auto same_destination = [](const auto& x, const auto& y) { return x.first == y.first; };
    bool several = std::adjacent_find(pairs.begin(), pairs.end(), same_destination) != pairs.end();
    made.pattern = combined     ? Pattern::Reduce
                   : replicated ? Pattern::Broadcast
                   : several    ? Pattern::Gather
                                : Pattern::Shift;
    finish(made);
  }

  void end(const StagePlan&) override { ++stage_number_; }

  void close() {
    cost_.max_bytes_received = *std::max_element(received_.begin(), received_.end());
    cost_.max_bytes_sent = *std::max_element(sent_.begin(), sent_.end());
  }

 private:
  StepCost start(int tensor, const std::string& at, int64_t step) const {
    return {stage_number_, plan_.tensors[tensor].name, at, step, 0, 0, Pattern::None};
  }

  void count(StepCost& step, int tensor, const Rect& rect, int64_t source, int64_t destination) {
    int64_t bytes = rect.volume() * plan_.tensors[tensor].element_bytes;
    step.bytes += bytes;
    received_[destination] += bytes;
    sent_[source] += bytes;
    cost_.bytes_by_level[stage_->machine.crossed_level(source, destination)] += bytes;
  }

  void finish(const StepCost& step) {
    Cost::PerTensor& tensor = cost_.tensors[step.tensor];
    std::string pattern = to_string(step.pattern);
    tensor.pattern = tensor.bytes == 0 || tensor.pattern == pattern ? pattern : to_string(Pattern::Mixed);
    tensor.bytes += step.bytes;
    tensor.messages += step.messages;
    cost_.bytes_moved += step.bytes;
    cost_.messages += step.messages;
    cost_.steps.push_back(step);
  }

  const Plan& plan_;
  PlanCost& cost_;
  const StagePlan* stage_ = nullptr;
  int stage_number_ = 0;
  std::vector<int64_t> received_;
  std::vector<int64_t> sent_;
};

}  // namespace

std::string to_string(Pattern pattern) {
  switch (pattern) {
    case Pattern::None: return "none";
    case Pattern::Broadcast: return "broadcast";
    case Pattern::Shift: return "shift";
    case Pattern::Gather: return "gather";
    case Pattern::Reduce: return "reduce";
    case Pattern::Mixed: return "mixed";
  }
  throw InternalError("unknown pattern");
}

Int128 flops_of(const Statement& statement, const std::map<std::string, int64_t>& extents) {
  auto points = [&](const std::vector<IndexVar>& variables) {
    Int128 n = 1;
    for (const IndexVar& v : variables) n *= extents.at(v.name);
    return n;
  };
  std::vector<IndexVar> left;
  for (const IndexVar& v : statement.lhs.indices) {
    if (std::find(left.begin(), left.end(), v) == left.end()) left.push_back(v);
  }
  Int128 flops = 0;
  bool first = statement.op == AssignOp::Assign;
  for (const Term& term : additive_terms(statement.rhs)) {
    std::vector<IndexVar> all = left;
    for (const IndexVar& v : variables(term.expr)) {
      if (std::find(all.begin(), all.end(), v) == all.end()) all.push_back(v);
    }
    bool sums = all.size() > left.size();
    flops += points(all) * multiplications(term.expr);
    if (sums || !first) flops += points(all);
    first = false;
  }
  return flops;
}

Int128 flops_of(const Plan& plan, const StagePlan& stage) {
  const ScheduledStatement& source = stage.stage->source;
  if (!source.counts) return 0;
  const Statement& written = source.origin ? *source.origin : source.statement;
  std::map<std::string, int64_t> extents;
  for (const auto& [name, extent] : variable_extents(plan.program->module, written)) {
    extents[name] = extent.evaluate(plan.params);
  }
  return flops_of(written, extents);
}

std::map<std::string, int64_t> extents_of(const StagePlan& stage) {
  std::map<std::string, int64_t> out;
  for (int v = 0; v < stage.space.size(); ++v) out[stage.space.names[v]] = stage.space.extents[v];
  return out;
}

PlanCost count_cost(const Plan& plan) {
  PlanCost cost;
  cost.processors = plan.processors;
  cost.processors_with_work = processors_with_work(plan);
  CostVisitor visitor(plan, cost);
  walk(plan, visitor);
  visitor.close();
  cost.flops = static_cast<double>(cost.exact_flops);
  cost.peak_bytes_per_processor = memory_needs(plan, Reach::own()).peak_per_processor;
  return cost;
}

}  // namespace distal::core
