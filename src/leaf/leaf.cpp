#include "leaf/leaf.h"

#include <fmt/format.h>

#include "leaf/box.h"
#include "leaf/box_leaf.h"
#include "leaf/compile.h"
#include "leaf/generate.h"
#include "leaf/interpret.h"
#include "leaf/library.h"
#include "leaf/nest.h"
#include "leaf/tiered.h"
#include "leaf/where.h"

namespace distal::core {

namespace {

// Compiling takes about half a second. Interpreting this many points takes less.
constexpr double kTinyPoints = 2e6;
// Below this many points BLAS is close enough not to compile.
constexpr double kManyPoints = 4e9;
constexpr const char* kWithoutCompiler = "interpreted, as there is no C++ compiler";

double points_of(const StagePlan& stage) {
  double points = 1;
  for (const IndexVar& v : variables(stage.stage->source.statement)) {
    points *= static_cast<double>(stage.space.extents[find_variable(stage.stage->space, v.name)]);
  }
  return points;
}

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

std::unique_ptr<LeafKernel> make_part(const LeafTask& task, ElementType type, LeafChoice choice);

std::unique_ptr<LeafKernel> make_nest_of_parts(const LeafTask& task, ElementType type, LeafChoice choice) {
  std::vector<std::unique_ptr<LeafKernel>> kernels;
  for (const LeafPart& part : *task.part->parts()) {
    kernels.push_back(make_part(inner_task(task, part), type, choice));
  }
  return make_where_leaf(task, type, std::move(kernels));
}

// The most points that one run of the leaf computes.
double points_of(const LeafTask& task) {
  double points = 1;
  for (int loop : task.loops) points *= static_cast<double>(task.space.extents[loop]);
  return std::min(points, points_of(*task.stage));
}

bool is_tiny(const LeafTask& task) { return points_of(*task.stage) <= kTinyPoints && task.part->marks.empty(); }

// Interprets a leaf that is tiny, until that has cost as much time as compiling, or for which there is no compiler.
// Otherwise the leaf is the one that `make_compiled` makes.
std::unique_ptr<LeafKernel> make_maybe_compiled_part(const LeafTask& task, ElementType type,
                                                     std::function<std::unique_ptr<LeafKernel>()> make_compiled) {
  if (!can_compile_leaves()) return make_interpreted_leaf(task, type, kWithoutCompiler);
  if (!is_tiny(task)) return make_compiled();
  return make_tiered_leaf(make_interpreted_leaf(task, type), points_of(task), kTinyPoints, std::move(make_compiled));
}

// Why the loops must run in the order of the schedule; empty if they need not.
std::string why_in_order(const LeafTask& task) {
  if (!task.part->marks.empty()) return "a loop is parallelized, vectorized or unrolled";
  return why_no_box(task).value_or("");
}

bool has_many_points(const LeafTask& task) { return points_of(*task.stage) >= kManyPoints && !leaf_compiler().empty(); }

BoxChoice automatic_choice(const LeafTask& task) {
  return {.library = true, .compile = !is_tiny(task) && can_compile_leaves(), .small = has_many_points(task)};
}

LibraryChoice library_choice(const LeafTask& task, bool strict) {
  return {.strict = strict, .compile = !strict && has_many_points(task)};
}

std::unique_ptr<LeafKernel> make_plain_part(const LeafTask& task, ElementType type, bool strict) {
  return make_maybe_compiled_part(task, type, [task, type, strict] { return make_generated_leaf(task, type, strict); });
}

std::unique_ptr<LeafKernel> make_automatic_part(const LeafTask& task, ElementType type) {
  if (!why_in_order(task).empty()) return make_plain_part(task, type, false);
  auto make_other = [task, type] {
    return make_maybe_compiled_part(task, type, [task, type] {
      return make_box_leaf(task, type, {.compile = true, .small = has_many_points(task)}, nullptr);
    });
  };
  BoxChoice choice = automatic_choice(task);
  std::unique_ptr<LeafKernel> made = choice.compile ? nullptr : make_box_leaf(task, type, choice, make_other);
  return made ? std::move(made) : make_other();
}

std::unique_ptr<LeafKernel> make_part(const LeafTask& task, ElementType type, LeafChoice choice) {
  if (task.part->parts()) return make_nest_of_parts(task, type, choice);
  if (choice == LeafChoice::Interpreted) return make_interpreted_leaf(task, type);
  if (choice == LeafChoice::Generated) {
    if (!why_in_order(task).empty()) return make_generated_leaf(task, type, false);
    return make_box_leaf(task, type, {.library = false, .compile = true}, nullptr);
  }
  bool strict = choice == LeafChoice::Strict;
  if (task.part->compute()->library) return make_library_leaf(task, type, library_choice(task, strict));
  if (strict) return make_plain_part(task, type, true);
  return make_automatic_part(task, type);
}

std::string explain_part(const LeafTask& task, ElementType type) {
  if (const auto* parts = task.part->parts()) {
    std::string out;
    for (const LeafPart& part : *parts) out += explain_part(inner_task(task, part), type);
    return out;
  }
  const Assignment& a = task.part->compute()->assignment;
  std::string what = fmt::format("{} {} {}", to_string(a.lhs), to_string(a.op), to_string(a.rhs));
  if (task.part->compute()->library) {
    return fmt::format("{}: {}\n", what, explain_library_leaf(task, type, library_choice(task, false)));
  }
  if (std::string why = why_in_order(task); !why.empty()) {
    if (!can_compile_leaves()) return fmt::format("{}: {}\n", what, kWithoutCompiler);
    return fmt::format("{}: generated code, loop by loop, because {}\n", what, why);
  }
  const char* otherwise = can_compile_leaves() ? "interpreted as long as there is little to do" : kWithoutCompiler;
  return fmt::format("{}: {}\n", what, explain_box_leaf(task, type, automatic_choice(task), otherwise));
}

std::string part_sources(const LeafTask& task, ElementType type) {
  if (const auto* parts = task.part->parts()) {
    std::string out;
    for (const LeafPart& part : *parts) out += part_sources(inner_task(task, part), type);
    return out;
  }
  std::string out = "// " + explain_part(task, type);
  if (task.part->compute()->library) return out + library_leaf_source(task, type, library_choice(task, false));
  return out + (why_in_order(task).empty() ? box_leaf_sources(task, type) : generate_source(task, type));
}

}  // namespace

std::string leaf_sources(const StagePlan& stage, ElementType type) { return part_sources(whole_leaf(stage), type); }

std::string explain_leaf(const StagePlan& stage, ElementType type) { return explain_part(whole_leaf(stage), type); }

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

std::unique_ptr<LeafKernel> make_leaf(const StagePlan& stage, ElementType type, LeafChoice choice) {
  return make_part(whole_leaf(stage), type, choice);
}

}  // namespace distal::core
