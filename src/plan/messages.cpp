#include "plan/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plan/walk.h"
#include "support/text.h"

namespace distal::core {

namespace {

constexpr int64_t kMaxMatrixProcessors = 9;  // a row must fit a line of text

using Pairs = std::map<std::pair<int64_t, int64_t>, int64_t>;  // bytes by source and destination

std::string matrix(const MachineShape& machine, const Pairs& pairs) {
  std::vector<std::string> names;
  size_t width = 0;
  for (int64_t p = 0; p < machine.processors; ++p) {
    names.push_back(machine.processor_name(p));
    width = std::max(width, names.back().size());
  }
  for (const auto& [pair, bytes] : pairs) width = std::max(width, with_commas(bytes).size());
  std::string out = fmt::format("  {:<{}}", "from \\ to", std::max<size_t>(width, 9));
  for (const std::string& name : names) out += fmt::format("  {:>{}}", name, width);
  out += "\n";
  for (int64_t from = 0; from < machine.processors; ++from) {
    out += fmt::format("  {:<{}}", names[static_cast<size_t>(from)], std::max<size_t>(width, 9));
    for (int64_t to = 0; to < machine.processors; ++to) {
      auto found = pairs.find({from, to});
      out += fmt::format("  {:>{}}", found == pairs.end() ? "." : with_commas(found->second), width);
    }
    out += "\n";
  }
  return out;
}

// A tensor may lie on a machine with more processors than the statement's. Its additional processors are shown by
// number.
std::string list(const MachineShape& machine, const Pairs& pairs) {
  auto name = [&](int64_t p) { return p < machine.processors ? machine.processor_name(p) : std::to_string(p); };
  std::string out;
  for (const auto& [pair, bytes] : pairs) {
    out += fmt::format("  {} -> {}  {}\n", name(pair.first), name(pair.second), with_commas(bytes));
  }
  return out;
}

bool fits_matrix(const MachineShape& machine, const Pairs& pairs) {
  return machine.processors <= kMaxMatrixProcessors && std::all_of(pairs.begin(), pairs.end(), [&](const auto& entry) {
           return std::max(entry.first.first, entry.first.second) < machine.processors;
         });
}

class MessagesVisitor : public PlanVisitor {
 public:
  explicit MessagesVisitor(const Plan& plan) : plan_(plan) {}

  void begin(const StagePlan& stage) override {
    stage_ = &stage;
    text_ += to_string(stage.stage->source.statement) + "\n";
  }
  bool wants_leaves() const override { return false; }

  void fetch(const FetchStep& step) override {
    Pairs pairs;
    for (const Fetch& f : step.fetches) {
      for (const FetchPiece& p : f.pieces) {
        if (moves(*stage_, step.acquire->acquire->place_levels, p.source, f.place)) {
          pairs[{p.source, f.place}] += p.rect.volume();
        }
      }
    }
    show(step.acquire->tensor, step.acquire->acquire->at, step.step, pairs);
  }

  void release(const ReleaseStep& step) override {
    Pairs pairs;
    for (const Transfer& t : step.transfers) {
      if (moves(*stage_, step, t)) pairs[{t.source, t.destination}] += t.rect.volume();
    }
    show(step.tensor, step.acquire ? step.acquire->acquire->at : "end", step.step, pairs);
  }

  const std::string& text() const { return text_; }

 private:
  // `pairs` counts elements; this turns them into bytes.
  void show(int tensor, const std::string& at, int64_t step, Pairs& pairs) {
    if (pairs.empty()) return;
    const TensorPlan& t = plan_.tensors[static_cast<size_t>(tensor)];
    int64_t sum = 0;
    for (auto& [pair, count] : pairs) sum += count *= t.element_bytes;
    std::string where = at.empty() ? "" : " at " + at;
    text_ += fmt::format("{}{}, step {}: {} bytes in {}\n", t.name, where, step, with_commas(sum),
                         counted(static_cast<int64_t>(pairs.size()), "message"));
    const MachineShape& machine = stage_->machine;
    text_ += fits_matrix(machine, pairs) ? matrix(machine, pairs) : list(machine, pairs);
  }

  const Plan& plan_;
  const StagePlan* stage_ = nullptr;
  std::string text_;
};

}  // namespace

std::string messages_text(const Plan& plan) {
  MessagesVisitor visitor(plan);
  walk(plan, visitor);
  return visitor.text();
}

}  // namespace distal::core
