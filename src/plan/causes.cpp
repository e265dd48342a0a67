#include "plan/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace distal::core {

namespace {

std::set<std::string> indices_of(const Statement& statement, const std::string& tensor) {
  std::set<std::string> indices;
  std::vector<Access> all = accesses(statement.rhs);
  all.push_back(statement.lhs);
  for (const Access& access : all) {
    if (access.tensor != tensor) continue;
    for (const IndexVar& v : access.indices) indices.insert(v.name);
  }
  return indices;
}

// The indices of the statement that a variable was made from.
std::vector<std::string> indices_behind(const StagePlan& stage, int variable) {
  std::vector<bool> behind = made_from(stage.space.derivations, stage.space.size(), variable);
  std::vector<std::string> out;
  for (const IndexVar& v : variables(stage.stage->source.statement)) {
    int number = find_variable(stage.stage->space, v.name);
    if (number == variable || behind[static_cast<size_t>(number)]) out.push_back(v.name);
  }
  return out;
}

std::vector<SharedIndex> shared_by(const StagePlan& stage, const std::string& tensor) {
  std::set<std::string> own = indices_of(stage.stage->source.statement, tensor);
  std::vector<SharedIndex> shared;
  for (int v = 0; v < stage.space.size(); ++v) {
    int64_t processors = stage.space.extents[static_cast<size_t>(v)];
    if (stage.machine_dimension[static_cast<size_t>(v)] < 0 || processors == 1) continue;
    for (const std::string& index : indices_behind(stage, v)) {
      if (own.count(index) > 0) continue;
      auto same = [&](const SharedIndex& other) { return other.index == index; };
      auto known = std::find_if(shared.begin(), shared.end(), same);
      if (known == shared.end()) {
        shared.push_back({index, processors});
      } else {
        known->processors *= processors;
      }
    }
  }
  return shared;
}

}  // namespace

std::vector<Cause> causes_of(const Plan& plan, const PlanCost& cost) {
  std::vector<Cause> out;
  std::map<std::pair<int, std::string>, size_t> known;
  for (const StepCost& step : cost.steps) {
    auto [entry, is_new] = known.try_emplace({step.stage, step.tensor}, out.size());
    if (is_new) {
      const StagePlan& stage = plan.stages[static_cast<size_t>(step.stage)];
      const Statement& statement = stage.stage->source.statement;
      out.push_back({to_string(statement), step.tensor, step.tensor == statement.lhs.tensor});
      out.back().shared = shared_by(stage, step.tensor);
      out.back().copies_replicas =
          out.back().is_output && plan.tensors[static_cast<size_t>(stage.output)].owners.has_replicas();
    }
    out[entry->second].bytes += step.bytes;
    out[entry->second].messages += step.messages;
  }
  return out;
}

std::string cause_text(const Cause& cause) {
  const char* copies = "further replicas get copies";
  if (cause.copies_replicas && cause.shared.empty()) return copies;
  std::string out = cause_text(cause.tensor, cause.is_output, cause.shared);
  return cause.copies_replicas ? fmt::format("{}; {}", out, copies) : out;
}

std::string cause_text(const std::string& tensor, bool is_output, const std::vector<SharedIndex>& shared) {
  if (shared.empty()) return "its format differs from the tiles of the work";
  std::string cut;
  for (const SharedIndex& one : shared) {
    cut += fmt::format("{}{} is cut by {}", cut.empty() ? "" : " and ", one.index, one.processors);
  }
  const char* what = is_output ? "partial results are added" : "processors share tiles";
  return fmt::format("{}, because {} and {} has no such index", what, cut, tensor);
}

}  // namespace distal::core
