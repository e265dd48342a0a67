#include "plan/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bound/lower_bound.h"
#include "lang/ranges.h"
#include "plan/exchange.h"
#include "support/checked.h"

namespace distal::core {

namespace {

// The box problem of one term of a statement: the indices are those of the term and of the result.
class ProblemOfTerm {
 public:
  ProblemOfTerm(const Plan& plan, const Statement& statement, const Expr& term, const Units& units)
      : plan_(plan), units_(units) {
    problem_.element_bytes = size_of(plan.program->module.type);
    std::vector<Access> operands = accesses(term);
    std::map<std::string, IntExpr> extents = variable_extents(plan.program->module, statement);
    for (const std::vector<IndexVar>& some : {statement.lhs.indices, variables(term)}) {
      for (const IndexVar& v : some) add_index(v.name, extents.at(v.name).evaluate(plan.params));
    }
    bool is_read = std::any_of(operands.begin(), operands.end(),
                               [&](const Access& a) { return a.tensor == statement.lhs.tensor; });
    add_access(statement.lhs, is_read ? statement.lhs.tensor + "'" : statement.lhs.tensor);
    for (const Access& access : operands) add_access(access, access.tensor);
    add_groups();
  }

  BoxProblem problem() && { return std::move(problem_); }

 private:
  void add_index(const std::string& name, int64_t extent) {
    if (index_named(name) == problem_.indices.size()) problem_.indices.push_back({name, extent});
  }

  size_t index_named(const std::string& name) const {
    auto found = std::find_if(problem_.indices.begin(), problem_.indices.end(),
                              [&](const BoxProblem::Index& index) { return index.name == name; });
    return static_cast<size_t>(found - problem_.indices.begin());
  }

  void add_access(const Access& access, const std::string& name) {
    std::vector<BoxProblem::Array>& arrays = problem_.arrays;
    auto array = std::find_if(arrays.begin(), arrays.end(), [&](const auto& a) { return a.name == name; });
    if (array == arrays.end()) {
      array = arrays.insert(arrays.end(), {name, {}});
      tensors_.push_back(plan_.tensor_index(access.tensor));
    }
    std::vector<int> indices;
    for (const IndexVar& v : access.indices) {
      auto index = static_cast<int>(index_named(v.name));
      if (std::find(indices.begin(), indices.end(), index) == indices.end()) indices.push_back(index);
    }
    auto& known = array->accesses;
    if (std::find(known.begin(), known.end(), indices) == known.end()) known.push_back(std::move(indices));
  }

  void add_groups() {
    std::vector<std::vector<int64_t>> own(static_cast<size_t>(units_.count));  // by unit and array
    for (int tensor : tensors_) {
      std::vector<int64_t> elements = owned_elements(plan_.tensors[tensor].owners, units_);
      for (size_t u = 0; u < own.size(); ++u) own[u].push_back(elements[u]);
    }
    std::map<std::vector<int64_t>, int64_t> units_that_own;
    for (std::vector<int64_t>& o : own) ++units_that_own[std::move(o)];
    for (const auto& [elements, units] : units_that_own) problem_.groups.push_back({units, elements});
  }

  const Plan& plan_;
  const Units& units_;
  BoxProblem problem_;
  std::vector<int> tensors_;  // by array
};

// The bound is computed in 64 bits, with room for its factors. Without points there is nothing to bound.
bool can_be_bounded(const BoxProblem& problem) {
  Int128 points = 1;
  for (const BoxProblem::Index& index : problem.indices) {
    if (index.extent == 0) return false;
    points *= index.extent;  // at most 2^100, see validate
  }
  return points <= Int128{1} << 60;
}

// The largest bound of the terms of the statement, and its proof.
void add_bound(const Plan& plan, const Statement& statement, const Units& units, Certificate& certificate) {
  std::vector<Term> terms = additive_terms(statement.rhs);
  for (const Term& term : terms) {
    BoxProblem problem = ProblemOfTerm(plan, statement, term.expr, units).problem();
    if (!can_be_bounded(problem)) continue;
    Proof proof = lower_bound(problem);
    if (proof.bytes <= certificate.lower_bound_bytes) continue;
    certificate.lower_bound_bytes = proof.bytes;
    certificate.bound = to_string(problem, proof);
    if (terms.size() > 1) certificate.bound = fmt::format("term {}\n{}", to_string(term.expr), certificate.bound);
  }
}

std::string note_on_levels(const StagePlan& stage, const Units& units) {
  if (units.levels == stage.machine.levels()) return "";
  return fmt::format(
      "a processor is one of level {}, with all that its {} parts own and compute; holds for schedules that share no "
      "copy above it\n",
      units.levels - 1, units.size);
}

Certificate certificate_of(const Plan& plan, const StagePlan& stage) {
  const Statement& statement = stage.stage->source.statement;
  Units units = units_of(plan, stage);
  Certificate out;
  out.statement = to_string(statement);
  out.processors = units.count;
  std::vector<int64_t> bytes = exchanged_bytes(plan, stage, units);
  auto most = std::max_element(bytes.begin(), bytes.end());
  out.exchanged_bytes = *most;
  int64_t busiest = (most - bytes.begin()) * units.size;
  // One that only another tensor's machine has, in a copy between machines, has no coordinates here.
  bool is_here = busiest < stage.machine.processors;
  out.busiest = is_here ? stage.machine.processor_name(busiest) : std::to_string(busiest);
  add_bound(plan, statement, units, out);
  if (out.lower_bound_bytes == 0) return out;
  out.bound = note_on_levels(stage, units) + out.bound;
  out.optimality = static_cast<double>(out.exchanged_bytes) / static_cast<double>(out.lower_bound_bytes);
  return out;
}

}  // namespace

std::vector<Certificate> certificates(const Plan& plan) {
  std::vector<Certificate> out;
  for (const StagePlan& stage : plan.stages) out.push_back(certificate_of(plan, stage));
  return out;
}

const Certificate& worst(const std::vector<Certificate>& certificates) {
  return *std::max_element(certificates.begin(), certificates.end(),
                           [](const Certificate& a, const Certificate& b) { return a.optimality < b.optimality; });
}

}  // namespace distal::core
