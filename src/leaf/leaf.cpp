#include "leaf/leaf.h"

#include <algorithm>

#include "leaf/box_leaf.h"
#include "leaf/choose_leaf.h"
#include "leaf/generate.h"
#include "leaf/gpu/kernel_source.h"
#include "leaf/interpret.h"
#include "leaf/nest.h"
#include "leaf/tiered.h"
#include "leaf/where.h"
#include "support/overloaded.h"

namespace distal::core {

namespace {

// The space without the variables that derive from `foreign` loops. A rotation by a foreign loop is computed as in that
// loop's first iteration, because a sum has the same addends in each.
IterationSpace<int64_t> without(IterationSpace<int64_t> space, std::vector<bool> foreign) {
  std::vector<Derivation> kept;
  auto is_foreign = [&](int v) -> bool { return foreign[v]; };
  auto keep = [&](const auto& d) {
    auto children = d.children();
    if (std::any_of(children.begin(), children.end(), is_foreign)) {
      for (int v : d.parents()) foreign[v] = true;
    } else if constexpr (requires { d.without_shifts(is_foreign); }) {
      kept.emplace_back(d.without_shifts(is_foreign));
    } else {
      kept.emplace_back(d);
    }
  };
  for (auto d = space.derivations.rbegin(); d != space.derivations.rend(); ++d) std::visit(keep, *d);
  space.derivations.assign(kept.rbegin(), kept.rend());
  return space;
}

std::vector<int> variables_of(const Compute& compute) {
  std::vector<int> out;
  for (const LeafOperand& o : compute.operands) out.insert(out.end(), o.indices.begin(), o.indices.end());
  for (const LeafTerm& t : compute.terms) out.insert(out.end(), t.only_at_zero.begin(), t.only_at_zero.end());
  return out;
}

// The most points that one run of the leaf computes.
double points_of(const LeafTask& task) {
  double points = 1, all = 1;
  for (int loop : task.loops) points *= static_cast<double>(task.space.extents[loop]);
  const Stage& stage = *task.stage->stage;
  for (const IndexVar& v : variables(stage.source.statement)) {
    all *= static_cast<double>(task.stage->space.extents[find_variable(stage.space, v.name)]);
  }
  return std::min(points, all);
}

std::unique_ptr<LeafKernel> make_part(const LeafTask& task, ElementType type, const LeafPlan& plan);

// Makes the leaf of a plan when it is needed. Nothing if there is no plan.
std::function<std::unique_ptr<LeafKernel>()> maker(const LeafTask& task, ElementType type,
                                                   const std::vector<LeafPlan>& plan) {
  if (plan.empty()) return nullptr;
  return [task, type, plan] { return make_part(task, type, plan[0]); };
}

std::unique_ptr<LeafKernel> make(const LeafTask& task, ElementType type, const PartsPlan& plan) {
  std::vector<std::unique_ptr<LeafKernel>> kernels;
  for (size_t p = 0; p < plan.parts.size(); ++p) {
    kernels.push_back(make_part(inner_task(task, (*task.part->parts())[p]), type, plan.parts[p]));
  }
  return make_where_leaf(task, type, std::move(kernels));
}

std::unique_ptr<LeafKernel> make(const LeafTask& task, ElementType type, const InterpretedPlan& plan) {
  auto first = make_interpreted_leaf(task, type, plan.why.empty() ? "interpreted" : plan.why);
  if (plan.then.empty()) return first;
  return make_tiered_leaf(std::move(first), points_of(task), plan.points, maker(task, type, plan.then));
}

std::unique_ptr<LeafKernel> make(const LeafTask& task, ElementType type, const NestPlan& plan) {
  return make_generated_leaf(task, type, plan.strict);
}

std::unique_ptr<LeafKernel> make(const LeafTask& task, ElementType type, const BoxPlan& plan) {
  return make_box_leaf(task, type, plan, maker(task, type, plan.others));
}

std::unique_ptr<LeafKernel> make(const LeafTask&, ElementType, const GpuPlan&) {
  throw InternalError("make_leaf: only emitted programs run leaves on GPUs");
}

std::unique_ptr<LeafKernel> make_part(const LeafTask& task, ElementType type, const LeafPlan& plan) {
  return std::visit([&](const auto& how) { return make(task, type, how); }, plan.how);
}

std::string gpu_source(const LeafTask& task, ElementType type) {
  return gpu_kernel_source(*task.stage->stage, type, storage_orders(*task.stage), "leaf");
}

std::string sources(const LeafTask& task, ElementType type, const LeafPlan& plan) {
  auto of_all = [&](const std::vector<LeafPlan>& plans) {
    return plans.empty() ? std::string() : sources(task, type, plans[0]);
  };
  return std::visit(
      Overloaded{[&](const PartsPlan& parts) {
                   std::string out;
                   for (size_t p = 0; p < parts.parts.size(); ++p) {
                     out += sources(inner_task(task, (*task.part->parts())[p]), type, parts.parts[p]);
                   }
                   return out;
                 },
                 [&](const InterpretedPlan& first) { return of_all(first.then); },
                 [&](const NestPlan&) { return generate_source(task, type); },
                 [&](const GpuPlan& gpu) { return gpu.why_not.empty() ? gpu_source(task, type) : std::string(); },
                 [&](const BoxPlan& box) { return box_sources(task, type, box) + of_all(box.others); }},
      plan.how);
}

}  // namespace

LeafTask whole_leaf(const StagePlan& stage) {
  return {&stage, &leaf_of(*stage.stage).root, stage.leaf_loops, stage.space};
}

LeafTask inner_task(const LeafTask& outer, const LeafPart& part) {
  std::vector<bool> foreign(static_cast<size_t>(outer.space.size()), false);
  for (const LeafPart& other : *outer.part->parts()) {
    if (&other == &part) continue;
    for (int loop : all_loops(other)) foreign[loop] = true;
  }
  IterationSpace<int64_t> space = without(outer.space, std::move(foreign));
  if (part.compute()) space = space_for(space, variables_of(*part.compute()));
  return {outer.stage, &part, part.loops, std::move(space)};
}

std::string leaf_sources(const StagePlan& stage, ElementType type, const LeafPlan& plan) {
  return sources(whole_leaf(stage), type, plan);
}

std::unique_ptr<LeafKernel> make_leaf(const StagePlan& stage, ElementType type, const LeafPlan& plan) {
  return make_part(whole_leaf(stage), type, plan);
}

std::unique_ptr<LeafKernel> make_leaf(const StagePlan& stage, ElementType type, LeafChoice choice) {
  return make_leaf(stage, type, choose_leaf(stage, type, choice));
}

}  // namespace distal::core
