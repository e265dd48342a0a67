#include "plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lower/with_values.h"
#include "plan/access_rects.h"
#include "plan/fold.h"
#include "plan/steps.h"
#include "schedule/checks.h"
#include "schedule/schedule.h"
#include "support/text.h"

namespace distal::core {

namespace {

std::vector<PlacedAccess> placed(const std::vector<AccessIndices>& accesses, const Bindings& params) {
  std::vector<PlacedAccess> out;
  for (const AccessIndices& a : accesses) {
    out.push_back({a.variables, Coordinates(a.variables.size(), 0)});
    for (size_t d = 0; d < a.offsets.size(); ++d) out.back().offsets[d] = a.offsets[d].evaluate(params);
  }
  return out;
}

StagePlan plan_stage(const Plan& plan, const Stage& stage) {
  StagePlan out;
  out.stage = &stage;
  out.output = plan.tensor_index(stage.source.statement.lhs.tensor);
  out.machine = shape_of(stage.machine, plan.params);
  out.space = evaluate(stage.space, plan.params);
  for (const IndexVar& v : variables(stage.source.statement)) {
    out.is_empty = out.is_empty || out.space.extents[find_variable(stage.space, v.name)] == 0;
  }
  out.machine_dimension.assign(static_cast<size_t>(out.space.size()), -1);
  out.held.assign(out.machine.extents.size(), 0);
  for (const HeldDimension& h : stage.held) {
    out.held[out.machine.dimension(h.level, h.dimension)] = h.face.evaluate(plan.params);
  }
  for (const EverywhereDimension& e : stage.everywhere) {
    out.everywhere.push_back(out.machine.dimension(e.level, e.dimension));
    out.held[out.everywhere.back()] = -1;
  }
  for (const LaunchDimension& d : launch_dimensions(stage)) {
    int dimension = out.machine.dimension(d.level, d.dimension);
    out.machine_dimension[d.variable] = dimension;
    out.held[dimension] = -1;
  }
  for (const Acquire* a : acquires_of(stage)) {
    int tensor = plan.tensor_index(a->tensor);
    AcquirePlan acquire{a,
                        tensor,
                        plan.tensors[tensor].order,
                        placed(a->accesses, plan.params),
                        std::vector<bool>(static_cast<size_t>(out.space.size())),
                        a->blocks};
    for (int v : a->fixed) acquire.is_fixed[v] = true;
    out.acquires.push_back(std::move(acquire));
  }
  out.leaf_loops = leaf_of(stage).root.loops;
  for (const LoopMark& m : all_marks(leaf_of(stage).root)) {
    if (m.kind == LoopMark::Kind::Unroll) out.unroll[m.loop] = m.factor.evaluate(plan.params);
  }
  return out;
}

// By variable: whether it is a loop outside of the leaf.
std::vector<bool> fixed_for_leaf(const StagePlan& stage) {
  std::vector<bool> fixed = recovered_variables(stage.space.derivations, stage.space.size());
  fixed.flip();
  for (int v : stage.leaf_loops) fixed[v] = false;
  for (int v : all_loops(leaf_of(*stage.stage).root)) fixed[v] = false;
  return fixed;
}

// The leaf's code carries out marks, so a marked loop must belong to the leaf. This is known only after folding.
void require_marked_loops_in_leaf(const StagePlan& stage) {
  const Leaf& leaf = leaf_of(*stage.stage);
  for (const LoopMark& m : leaf.root.marks) {
    if (std::find(stage.leaf_loops.begin(), stage.leaf_loops.end(), m.loop) != stage.leaf_loops.end()) continue;
    refuse(nest_of(stage.stage->concrete), m.span,
           fmt::format("{0}: tensors are communicated inside loop {1}, so its iterations are steps of the processor; "
                       "{0} a loop below every communicate",
                       m.command(), stage.space.names[m.loop]));
  }
}

// The loop variables that are not loops of the leaf's outermost part.
std::vector<int> loops_outside_leaf(const StagePlan& made) {
  std::vector<bool> is_outside = recovered_variables(made.space.derivations, made.space.size());
  is_outside.flip();
  for (int loop : made.leaf_loops) is_outside[loop] = false;
  std::vector<int> out;
  for (int v = 0; v < made.space.size(); ++v) {
    if (is_outside[v]) out.push_back(v);
  }
  return out;
}

bool names_each_once(const Statement& statement) {
  const std::vector<IndexVar>& named = statement.lhs.indices;
  return std::set<IndexVar>(named.begin(), named.end()).size() == named.size();
}

// See StagePlan. False if a term contributes only in some runs of the leaf, or if a copy has elements that no run
// computes and that therefore must be zeros.
bool adds_to_all(const StagePlan& made) {
  const Compute* compute = leaf_of(*made.stage).root.compute();
  if (!compute || !names_each_once(made.stage->source.statement)) return false;
  for (const AcquirePlan& a : made.acquires) {
    if (a.acquire->privilege != Privilege::Read && !a.acquire->exact) return false;
  }
  return std::all_of(compute->terms.begin(), compute->terms.end(),
                     [](const LeafTerm& t) { return t.only_at_zero.empty(); });
}

// See StagePlan. False if the left side does not reach some elements, which must be zeros, or if an element is summed
// over several runs of the leaf.
bool makes_whole_output(const StagePlan& made) {
  const Statement& statement = made.stage->source.statement;
  const std::vector<IndexVar>& named = statement.lhs.indices;
  if (statement.op != AssignOp::Assign || !names_each_once(statement)) return false;
  for (const AcquirePlan& a : made.acquires) {
    bool partial = a.acquire->privilege == Privilege::Reduce;
    if (partial || (a.acquire->privilege == Privilege::Write && !a.acquire->exact)) return false;
  }
  std::vector<int> outside = loops_outside_leaf(made);
  for (const IndexVar& v : variables(statement)) {
    if (std::find(named.begin(), named.end(), v) != named.end()) continue;
    int sum = find_variable(made.stage->space, v.name);
    auto takes_part = [&](int loop) -> bool { return made_from(made.space.derivations, made.space.size(), loop)[sum]; };
    if (made.space.extents[sum] == 0 || std::any_of(outside.begin(), outside.end(), takes_part)) return false;
  }
  return true;
}

}  // namespace

int64_t StagePlan::coordinate(int64_t processor, int dimension) const {
  int64_t stride = 1;
  for (size_t d = machine.extents.size(); d-- > static_cast<size_t>(dimension) + 1;) stride *= machine.extents[d];
  return (processor / stride) % machine.extents[dimension];
}

int64_t StagePlan::counterpart(int64_t processor, int64_t place) const {
  if (everywhere.empty()) return processor;
  Coordinates at = machine.coordinates(processor);
  for (int d : everywhere) at[d] = coordinate(place, d);
  return machine.processor(at);
}

std::vector<int64_t> StagePlan::places(int place_levels) const {
  std::vector<int64_t> out;
  for (int64_t p = 0; p < machine.processors; p += machine.group_size[place_levels]) {
    bool takes_part = true;
    for (size_t d = 0; d < held.size() && takes_part; ++d) {
      if (held[d] < 0 || machine.level[d] >= place_levels) continue;
      takes_part = coordinate(p, static_cast<int>(d)) == held[d];
    }
    if (takes_part) out.push_back(p);
  }
  return out;
}

bool StagePlan::bounds_at(int64_t place, const std::vector<bool>& is_fixed, const std::vector<int64_t>& values,
                          std::vector<Interval<int64_t>>& intervals) const {
  if (is_empty) return false;
  intervals.resize(static_cast<size_t>(space.size()));
  for (int v = 0; v < space.size(); ++v) {
    if (is_fixed[v]) {
      int64_t value = machine_dimension[v] >= 0 ? coordinate(place, machine_dimension[v]) : values[v];
      intervals[v] = point(value);
    } else {
      intervals[v] = {0, space.extents[v], true, false};
    }
  }
  return bounds(space, intervals);
}

int Plan::tensor_index(const std::string& name) const {
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].name == name) return static_cast<int>(t);
  }
  throw InternalError("no tensor " + name);
}

Plan make_plan(std::shared_ptr<const Program> program, const Bindings& params, PlanOptions options) {
  Plan plan;
  plan.program = with_values(std::move(program), params);
  plan.params = params;
  plan.options = options;
  for (const Tensor& t : plan.program->module.tensors) {
    plan.tensors.push_back({t.name, Ownership(t, params), t.order, size_of(plan.program->module.type)});
    plan.processors = std::max(plan.processors, plan.tensors.back().owners.machine().available);
  }
  for (const Stage& stage : plan.program->stages) {
    validate_schedule(stage.source, params);
    plan.stages.push_back(plan_stage(plan, stage));
    StagePlan& made = plan.stages.back();
    plan.processors = std::max(plan.processors, made.machine.available);
    drop_blocks_without_holes(made);
    if (options.fold) fold_local_loops(plan, made);
    made.leaf_is_fixed = fixed_for_leaf(made);
    made.makes_whole_output = makes_whole_output(made);
    made.adds_to_all = adds_to_all(made);
    require_few_steps(made);
    require_marked_loops_in_leaf(made);
  }
  return plan;
}

Rect rect_of(const PlacedAccess& access, const std::vector<Interval<int64_t>>& intervals) {
  Rect rect;
  for (size_t d = 0; d < access.variables.size(); ++d) {
    const Interval<int64_t>& interval = intervals[access.variables[d]];
    rect.lo.push_back(interval.lo + access.offsets[d]);
    rect.hi.push_back(interval.hi + access.offsets[d]);
  }
  return rect;
}

}  // namespace distal::core
