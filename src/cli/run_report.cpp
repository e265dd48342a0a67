#include "cli/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "cli/advice.h"
#include "cli/look_first.h"
#include "plan/cost.h"
#include "plan/work.h"
#include "support/text.h"

namespace distal::core {

namespace {

std::string machine_text(const Machine& machine, const Bindings& params) {
  std::vector<std::string> levels;
  for (const Grid& g : machine.levels) {
    std::vector<int64_t> extents;
    for (const IntExpr& e : g.extents) extents.push_back(e.evaluate(params));
    levels.push_back(extents.size() == 1 ? fmt::format("a grid of {}", extents[0])
                                         : fmt::format("a {} grid", fmt::join(extents, "×")));
  }
  return fmt::format("{}", fmt::join(levels, " of "));
}

}  // namespace

nlohmann::ordered_json RunReport::json() const {
  double best = seconds.front();
  auto checked = [](const auto& value) { return nlohmann::ordered_json(value); };
  nlohmann::ordered_json none;
  nlohmann::ordered_json out{
      {"ok", check ? checked(check->ok) : none},
      {"engine", engine},
      {"processors", plan->processors},
      {"processors_with_work", processors_with_work(*plan)},
      {"seconds_min", best},
      {"seconds_median", median()},
      {"gflops", flops() / best * 1e-9},
      {"gbps", tensor_bytes() / best * 1e-9},
      {"max_relative_error", check ? checked(check->max_relative_error) : none},
      {"bytes_moved", bytes_moved},
      {"bytes_copied", bytes_copied ? nlohmann::ordered_json(*bytes_copied) : nlohmann::ordered_json()},
      {"messages", messages},
      {"peak_bytes_per_processor", peak_bytes_per_processor},
      {"resident_bytes", resident_bytes ? nlohmann::ordered_json(*resident_bytes) : nlohmann::ordered_json()},
      {"elements_checked", check ? check->checked : 0},
      {"tasks", tasks},
      {"leaves", leaves},
      {"type", to_string(plan->program->module.type)}};
  if (found.json.is_object()) out.update(found.json);
  return out;
}

std::string RunReport::ran_text() const {
  const Machine& machine = plan->stages[0].stage->machine;
  int64_t with_work = processors_with_work(*plan);
  std::string some = with_work < plan->processors ? with_commas(with_work) + " of " : "";
  bool line = machine.levels.size() == 1 && machine.levels[0].extents.size() == 1;
  return fmt::format("  ran on    {}{}, {}{} {}, {} leaf, {}\n", some, counted(plan->processors, "processor"),
                     machine_text(machine, plan->params), line ? ", on" : " of", backend, fmt::join(leaves, ", "),
                     to_string(plan->program->module.type));
}

std::string RunReport::moved_text() const {
  std::string copied = bytes_copied ? fmt::format(" ({} physically copied)", bytes_text(double(*bytes_copied))) : "";
  return fmt::format("  moved     {} in {}{}\n", bytes_text(double(bytes_moved)), counted(messages, "message"), copied);
}

std::string RunReport::memory_text() const {
  std::string resident =
      resident_bytes ? fmt::format(", {} at most in one process", bytes_text(double(*resident_bytes))) : "";
  return fmt::format("  memory    {} at most on one processor{}\n", bytes_text(double(peak_bytes_per_processor)),
                     resident);
}

std::string RunReport::time_text() const {
  return fmt::format("  time      {} best, {} median of {}\n", seconds_text(seconds.front()), seconds_text(median()),
                     seconds.size());
}

std::string RunReport::speed_text() const {
  return fmt::format("  speed     {}, {:.2f} GB/s\n",
                     heading(fmt::format("{:.2f} GFLOP/s", flops() / seconds.front() * 1e-9)),
                     tensor_bytes() / seconds.front() * 1e-9);
}

std::string RunReport::check_text() const {
  if (!check) return "  check     none\n";
  std::string out =
      fmt::format("  check     {}, largest relative error {:.1e} in {}\n", check->ok ? good("correct") : bad("WRONG"),
                  check->max_relative_error, counted(check->checked, "element"));
  if (!check->ok) out += fmt::format("            {}\n", check->first_wrong);
  return out;
}

double RunReport::median() const {
  size_t n = seconds.size();
  return n % 2 == 1 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
}

double RunReport::flops() const {
  double sum = 0;
  for (const StagePlan& s : plan->stages) sum += static_cast<double>(flops_of(*plan, s));
  return sum;
}

// Counts each operand and result once per statement.
double RunReport::tensor_bytes() const {
  double sum = 0;
  for (const StagePlan& s : plan->stages) {
    std::set<int> used{s.output};
    for (const Access& a : accesses(s.stage->source.statement.rhs)) used.insert(plan->tensor_index(a.tensor));
    for (int t : used) {
      double volume = 1;
      for (int64_t e : plan->tensors[t].owners.shape()) volume *= static_cast<double>(e);
      sum += volume * static_cast<double>(plan->tensors[t].element_bytes);
    }
  }
  return sum;
}

std::string report_text(const RunReport& report, const CliOptions& options) {
  if (options.json) return report.json().dump() + "\n";
  std::string out = report.summary();
  if (!options.terminal) return out;
  for (const Remark& remark : remarks_on(report))
    out += fmt::format("  look at   {}: {}\n", remark.where, notable(remark.what));
  return out;
}

std::string RunReport::summary() const {
  std::string out;
  for (const StagePlan& s : plan->stages) out += heading(to_string(s.stage->source.statement)) + "\n";
  return out + found.text + ran_text() + undistributed_text(*plan) + moved_text() + memory_text() + time_text() +
         speed_text() + check_text();
}

}  // namespace distal::core
