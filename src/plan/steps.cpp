#include "plan/steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/text.h"

namespace distal::core {

namespace {

// A loop around a node, the launch, or the root of the statement.
struct Around {
  std::string name;   // of the loop, or of the innermost loop of the launch; empty for the root
  double visits = 1;  // how often a place carries out what is in it
};

struct TooFarIn {
  const Acquire* acquire;
  std::vector<Around> around;  // from outside to inside
};

struct StepCount {
  double most = 1;                 // how often a place visits the node that it visits most often
  std::vector<TooFarIn> acquires;  // those that a place carries out more often than `limit` times
};

class StepCounter {
 public:
  StepCounter(const StagePlan& stage, double limit) : stage_(stage), limit_(limit) {}

  StepCount count() {
    visit(stage_.stage->root);
    return std::move(count_);
  }

 private:
  void visit(const NodePtr& node) {
    count_.most = std::max(count_.most, around_.back().visits);
    if (node.get() == stage_.fold_at) return;
    if (const auto* l = std::get_if<Loop>(&node->value)) {
      double extent = static_cast<double>(stage_.space.extents[l->variable]);
      around_.push_back({stage_.space.names[l->variable], around_.back().visits * extent});
      visit(l->body);
      around_.pop_back();
    } else if (const auto* a = std::get_if<Launch>(&node->value)) {
      around_.push_back({stage_.space.names[a->dimensions.back().variable], around_.back().visits});
      visit(a->body);
      around_.pop_back();
    } else if (const auto* q = std::get_if<Acquire>(&node->value)) {
      if (around_.back().visits > limit_) count_.acquires.push_back({q, around_});
      visit(q->body);
    } else if (const auto* c = std::get_if<Chain>(&node->value)) {
      for (const NodePtr& part : c->parts) visit(part);
    }
  }

  const StagePlan& stage_;
  double limit_;
  std::vector<Around> around_{{"", 1}};
  StepCount count_;
};

std::string text_of(double count) {
  return count < 9e18 ? with_commas(static_cast<int64_t>(count)) : fmt::format("{:.3g}", count);
}

std::string braced(const std::vector<std::string>& names) {
  return names.size() == 1 ? names[0] : fmt::format("{{{}}}", fmt::join(names, ", "));
}

// The innermost loop around the acquire in which a place carries out few enough steps; null if there is none. For
// what is read, a loop with far fewer steps is preferred, since a plan that is barely short enough is slow. An output
// stays as far in as possible, since further out its rectangle may no longer lie in one home piece.
const Around* far_enough_out(const TooFarIn& acquire, double limit) {
  for (double few : {acquire.acquire->privilege == Privilege::Read ? limit / 100 : limit, limit}) {
    for (auto around = acquire.around.rbegin(); around != acquire.around.rend(); ++around) {
      if (around->visits <= few && !around->name.empty()) return &*around;
    }
  }
  return nullptr;
}

std::string remedy(const StepCount& count, double limit, double places) {
  const Around* loop = far_enough_out(count.acquires.back(), limit);
  if (loop == nullptr) return "cut the loops into larger blocks";
  std::vector<std::string> names;
  bool writes = false;
  for (const TooFarIn& t : count.acquires) {
    if (std::find(names.begin(), names.end(), t.acquire->tensor) == names.end()) names.push_back(t.acquire->tensor);
    writes |= t.acquire->privilege != Privilege::Read;
  }
  return fmt::format("say communicate({}, {}), which makes {}{}", braced(names), loop->name,
                     counted(static_cast<int64_t>(loop->visits * places), "step"),
                     writes ? ", or cut the loops into larger blocks" : "");
}

std::string reason(const Acquire& a) {
  if (!a.by_default) return fmt::format("{} is communicated at loop {}", a.tensor, a.at);
  return fmt::format("{}, which no communicate names, is communicated at loop {}", a.tensor, a.at);
}

}  // namespace

void require_few_steps(const StagePlan& stage) {
  double places = static_cast<double>(stage.places(stage.machine.levels()).size());
  double limit = static_cast<double>(kMaxSteps) / places;
  StepCount count = StepCounter(stage, limit).count();
  if (count.most <= limit) return;
  // Every statement acquires its output, and loops are only folded if few enough steps remain. So the steps that are
  // too many lie in an acquire.
  std::string steps = text_of(count.most * places);
  throw Error(fmt::format("the plan has {} steps, because {}; at most {} are planned", steps,
                          count.acquires.empty() ? "the loops outside of the leaf are long"
                                                 : reason(*count.acquires.back().acquire),
                          with_commas(kMaxSteps)),
              stage.stage->source.statement.span,
              count.acquires.empty() ? "cut the loops into larger blocks" : remedy(count, limit, places));
}

}  // namespace distal::core
