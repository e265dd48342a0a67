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
  return std::visit(Overloaded{[&](const PartsPlan& parts) {
                                 std::string out;
                                 for (size_t p = 0; p < parts.parts.size(); ++p) {
                                   out += sources(inner_task(task, (*task.part->parts())[p]), type, parts.parts[p]);
                                 }
                                 return out;
                               },
                               [&](const InterpretedPlan& first) { return of_all(first.then); },
                               [&](const NestPlan&) { return generate_source(task, type); },
                               [&](const GpuPlan&) { return gpu_source(task, type); },
                               [&](const BoxPlan& box) { return box_sources(task, type, box) + of_all(box.others); }},
                    plan.how);
}

}  // namespace

LeafTask whole_leaf(const StagePlan& stage) {
  return {&stage, &leaf_of(*stage.stage).root, stage.leaf_loops, stage.space};
}

LeafTask inner_task(const LeafTask& outer, const LeafPart& part) {
  return {outer.stage, &part, part.loops, space_of_part(outer.space, *outer.part->parts(), part)};
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
