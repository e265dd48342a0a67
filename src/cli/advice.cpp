#include "cli/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lang/ranges.h"

namespace distal::core {

namespace {

// The indices of a statement: first those of its output, which can be distributed without a reduction.
std::vector<std::string> indices_of(const Statement& statement) {
  std::vector<IndexVar> all = statement.lhs.indices, right = variables(statement.rhs);
  all.insert(all.end(), right.begin(), right.end());
  std::vector<std::string> out;
  for (const IndexVar& v : all) {
    if (std::find(out.begin(), out.end(), v.name) == out.end()) out.push_back(v.name);
  }
  return out;
}

std::string command_for(const Stage& stage) {
  const Grid& grid = stage.machine.levels[0];
  std::vector<std::string> over = indices_of(stage.source.statement), outer, inner;
  if (over.size() < grid.extents.size()) return "";
  over.resize(grid.extents.size());
  for (const std::string& name : over) {
    outer.push_back(name + "o");
    inner.push_back(name + "i");
  }
  std::string machine = stage.machine.name.empty() ? to_string(grid) : stage.machine.name;
  if (!stage.machine.name.empty() && stage.machine.levels.size() > 1) machine += "[0]";
  return fmt::format("distribute({{{}}}, {{{}}}, {{{}}}, {})", fmt::join(over, ", "), fmt::join(outer, ", "),
                     fmt::join(inner, ", "), machine);
}

}  // namespace

std::string undistributed_text(const Plan& plan) {
  std::string out;
  for (const StagePlan& s : plan.stages) {
    const ScheduledStatement& source = s.stage->source;
    const Statement& written = source.origin ? *source.origin : source.statement;
    std::vector<std::string> empty = empty_indices(plan.program->module, written, plan.params);
    if (!empty.empty()) {
      out += fmt::format("  note      index {} of {} has no values\n", empty.front(), to_string(written));
      continue;
    }
    if (s.machine.processors < 2 || !launch_dimensions(*s.stage).empty()) continue;
    std::string command = command_for(*s.stage);
    out += "  note      nothing is distributed";
    out +=
        command.empty() ? "\n" : fmt::format("; to share the work, write in the schedule\n            {}\n", command);
  }
  return out;
}

}  // namespace distal::core
