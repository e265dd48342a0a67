#include "leaf/leaf.h"

#include <fmt/format.h>

#include "leaf/compile.h"
#include "leaf/contraction.h"
#include "leaf/gemm.h"
#include "leaf/generate.h"
#include "leaf/interpret.h"
#include "leaf/where.h"

namespace distal::core {

namespace {

// Compiling takes about half a second; walking this many points by interpretation takes less.
constexpr double kTinyPoints = 2e6;

double points_of(const StagePlan& stage) {
  double points = 1;
  for (const IndexVar& v : variables(stage.stage->source.statement)) {
    points *= static_cast<double>(stage.space.extents[find_variable(stage.stage->space, v.name)]);
  }
  return points;
}

std::unique_ptr<LeafKernel> make_part(const LeafTask& task, ElementType type, LeafChoice choice);

std::unique_ptr<LeafKernel> make_nest_of_parts(const LeafTask& task, ElementType type, LeafChoice choice) {
  std::vector<std::unique_ptr<LeafKernel>> kernels;
  for (const LeafPart& part : *task.part->parts()) {
    kernels.push_back(make_part(LeafTask{task.stage, &part, part.loops}, type, choice));
  }
  return make_where_leaf(task, type, std::move(kernels));
}

std::unique_ptr<LeafKernel> make_part(const LeafTask& task, ElementType type, LeafChoice choice) {
  if (task.part->parts()) return make_nest_of_parts(task, type, choice);
  switch (choice) {
    case LeafChoice::Interpreted: return make_interpreted_leaf(task, type);
    case LeafChoice::Generated: return make_generated_leaf(task, type);
    case LeafChoice::Automatic: break;
  }
  if (task.part->compute()->gemm) return make_gemm_leaf(task, type);
  bool tiny = points_of(*task.stage) <= kTinyPoints && task.part->marks.empty();
  auto without_library = [task, type, tiny] {
    return tiny ? make_interpreted_leaf(task, type) : make_generated_leaf(task, type);
  };
  auto match = match_contraction(task, type);
  if (const auto* c = std::get_if<Contraction>(&match)) return make_contraction_leaf(task, type, *c, without_library);
  return without_library();
}

}  // namespace

namespace {

std::string explain_part(const LeafTask& task, ElementType type) {
  if (const auto* parts = task.part->parts()) {
    std::string out;
    for (const LeafPart& part : *parts) out += explain_part({task.stage, &part, part.loops}, type);
    return out;
  }
  const Assignment& a = task.part->compute()->assignment;
  std::string what = fmt::format("{} {} {}", to_string(a.lhs), to_string(a.op), to_string(a.rhs));
  if (task.part->compute()->gemm) return fmt::format("{}: gemm, as substitute asks\n", what);
  auto match = match_contraction(task, type);
  if (const auto* c = std::get_if<Contraction>(&match)) return fmt::format("{}: {} by BLAS\n", what, to_string(*c));
  return fmt::format("{}: code of its own; no library, as {}\n", what, std::get<std::string>(match));
}

}  // namespace

std::string explain_leaf(const StagePlan& stage, ElementType type) { return explain_part(whole_leaf(stage), type); }

LeafTask whole_leaf(const StagePlan& stage) { return {&stage, &leaf_of(*stage.stage).root, stage.leaf_loops}; }

std::unique_ptr<LeafKernel> make_leaf(const StagePlan& stage, ElementType type, LeafChoice choice) {
  return make_part(whole_leaf(stage), type, choice);
}

}  // namespace distal::core
