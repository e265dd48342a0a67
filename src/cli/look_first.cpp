#include "cli/look_first.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "leaf/leaf_plan.h"
#include "plan/work.h"
#include "support/text.h"
#include "tune/report.h"

namespace distal::core {

namespace {

constexpr double kNear = 1.05;  // a ratio below this counts as good as the best

std::string idle_text(int64_t processors, int64_t with_work) {
  return fmt::format("{} of {} no work", with_commas(processors - with_work),
                     counted(processors, "processor has", "processors have"));
}

// The loop at which most bytes move, with its tensor.
Remark most_moved(const PlanCost& cost) {
  std::map<std::tuple<int, std::string, std::string>, StepCost> sums;
  for (const StepCost& step : cost.steps) {
    auto [entry, is_new] = sums.try_emplace({step.stage, step.tensor, step.at}, step);
    if (!is_new) entry->second.bytes += step.bytes;
  }
  auto fewer = [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; };
  const StepCost& most = std::max_element(sums.begin(), sums.end(), fewer)->second;
  double part = 100.0 * static_cast<double>(most.bytes) / static_cast<double>(cost.bytes_moved);
  return {"Communication", fmt::format("{} at {} is {:.0f} % of the bytes that move ({})", most.tensor, most.at, part,
                                       to_string(most.pattern))};
}

Remark how_far(const Certificate& certificate) {
  double times = *certificate.optimality;
  if (times < kNear) {
    return {"Certificate", fmt::format("within {:.0f} % of the least communication that is possible",
                                       std::max(1.0, 100 * (times - 1)))};
  }
  return {"Certificate",
          fmt::format("processor {} exchanges {:.3g} times the least that is possible", certificate.busiest, times)};
}

}  // namespace

std::vector<Remark> remarks_on(const PlanCost& cost, const std::vector<Certificate>& certificates) {
  std::vector<Remark> out;
  if (cost.processors_with_work < cost.processors)
    out.push_back({"Total", idle_text(cost.processors, cost.processors_with_work)});
  const Certificate& certificate = worst(certificates);
  if (certificate.optimality) out.push_back(how_far(certificate));
  out.push_back(cost.bytes_moved > 0 ? most_moved(cost) : Remark{"Communication", "nothing moves"});
  return out;
}

std::vector<Remark> remarks_on(const RunReport& report) {
  std::vector<Remark> out;
  if (!report.ok()) out.push_back({"check", "the result is wrong"});
  if (std::find(report.leaves.begin(), report.leaves.end(), kWithoutCompiler) != report.leaves.end())
    out.push_back({"ran on", "a leaf is interpreted, which is slow; install a compiler, or set DISTAL_CXX"});
  int64_t processors = report.plan->processors, with_work = processors_with_work(*report.plan);
  if (with_work < processors) out.push_back({"ran on", idle_text(processors, with_work)});
  if (report.bytes_copied.value_or(report.bytes_moved) > 0)
    out.push_back({"moved", "`distal explain` says what moves, and how far it is from the least"});
  if (out.empty()) out.push_back({"speed", "nothing is copied and no processor is idle, so the leaf decides"});
  return out;
}

std::vector<Remark> remarks_on(const FoundStatement& found) {
  std::vector<Remark> out;
  const Found& best = found.result.best;
  int64_t processors = found.shape.processors, with_work = best.cost.working_processors;
  if (with_work < processors) out.push_back({"the grid", idle_text(processors, with_work)});
  for (const Alternative& other : found.result.alternatives) {
    if (other.found.seconds >= kNear * best.seconds) continue;
    double more = 100 * (other.found.seconds / best.seconds - 1);
    out.push_back(
        {"the alternatives", fmt::format("{} takes only {:.1f} % more time in the model; try both",
                                         grid_text(found.shape, other.found.candidate), std::max(0.0, more))});
    break;
  }
  if (out.empty()) {
    bool moves = best.cost.exchanged_bytes > 0;
    out.push_back({"the grid", moves ? "it is clearly the best; `distal explain` proves how far it is from the least"
                                     : "nothing moves"});
  }
  return out;
}

}  // namespace distal::core
