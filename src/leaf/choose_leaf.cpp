#include "leaf/choose_leaf.h"

#include <fmt/format.h>

#include "leaf/choose_box.h"
#include "leaf/compile.h"
#include "leaf/cpp_text.h"
#include "leaf/gpu/gpu_leaf.h"

namespace distal::core {

namespace {

using Method = decltype(LeafPlan::how);

// Compiling takes about half a second. Interpreting this many points takes less.
constexpr double kTinyPoints = 2e6;
// Below this many points BLAS is close enough not to compile.
constexpr double kManyPoints = 4e9;

// Of the whole statement.
double points_of(const StagePlan& stage) {
  double points = 1;
  for (const IndexVar& v : variables(stage.stage->source.statement)) {
    points *= static_cast<double>(stage.space.extents[find_variable(stage.stage->space, v.name)]);
  }
  return points;
}

// Why the loops must run in the order of the schedule; empty if they need not.
std::string why_in_order(const LeafTask& task) {
  if (!task.part->marks.empty()) return "a loop is parallelized, vectorized or unrolled";
  return why_no_box(task).value_or("");
}

class Chooser {
 public:
  Chooser(const LeafTask& task, ElementType type)
      : task_(task),
        type_(type),
        points_(points_of(*task.stage)),
        is_tiny_(points_ <= kTinyPoints && task.part->marks.empty()),
        has_many_points_(points_ >= kManyPoints && !leaf_compiler().empty()) {}

  LeafPlan choose(LeafChoice choice) const {
    const bool strict = choice == LeafChoice::Strict;
    if (choice == LeafChoice::Interpreted) return plan(InterpretedPlan{});
    if (choice == LeafChoice::Loops) return plan(NestPlan{});
    if (choice != LeafChoice::Generated && task_.part->compute()->library) {
      return plan(choose_substitute(task_, type_, strict, !strict && has_many_points_));
    }
    if (strict) return when_worth_compiling(NestPlan{.strict = true});
    std::string in_order = why_in_order(task_);
    if (choice == LeafChoice::Generated) {
      return plan(in_order.empty() ? Method(choose_box(task_, type_, {.library = false})) : NestPlan{.why = in_order});
    }
    return in_order.empty() ? best_box() : when_worth_compiling(NestPlan{.why = in_order});
  }

 private:
  LeafPlan plan(Method how) const { return {assignment_text(task_.part->compute()->assignment), std::move(how)}; }

  // Interprets a leaf that is tiny, until that has cost as much time as compiling, or for which there is no compiler.
  LeafPlan when_worth_compiling(Method compiled) const {
    if (!can_compile_leaves()) {
      bool is_box = std::holds_alternative<BoxPlan>(compiled);
      return plan(InterpretedPlan{.why = kWithoutCompiler, .no_library = is_box ? why_no_library(task_, type_) : ""});
    }
    if (!is_tiny_) return plan(std::move(compiled));
    return plan(InterpretedPlan{.points = kTinyPoints, .then = {plan(std::move(compiled))}});
  }

  LeafPlan best_box() const {
    if (!is_tiny_ && can_compile_leaves()) return plan(choose_box(task_, type_, {.small = has_many_points_}));
    BoxPlan library = choose_box(task_, type_, {.compile = false});
    bool has_library = !library.passes.empty();
    LeafPlan compiled = when_worth_compiling(choose_box(task_, type_, {.library = !has_library}));
    if (!has_library) return compiled;
    library.others.push_back(std::move(compiled));
    return plan(std::move(library));
  }

  const LeafTask& task_;
  ElementType type_;
  double points_;
  bool is_tiny_, has_many_points_;
};

}  // namespace

LeafPlan choose_part(const LeafTask& task, ElementType type, LeafChoice choice) {
  if (task.part->compute()) return Chooser(task, type).choose(choice);
  PartsPlan out;
  for (const LeafPart& part : *task.part->parts())
    out.parts.push_back(choose_part(inner_task(task, part), type, choice));
  return {"", std::move(out)};
}

LeafPlan choose_leaf(const StagePlan& stage, ElementType type, LeafChoice choice, Processor processor) {
  if (processor == Processor::CPU) return choose_part(whole_leaf(stage), type, choice);
  return {to_string(stage.stage->source.statement), choose_gpu(*stage.stage, type, storage_orders(stage))};
}

}  // namespace distal::core
