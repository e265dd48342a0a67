#include "session/prepared_program.h"

#include <fmt/format.h>

#include "lang/validate.h"
#include "plan/verify.h"
#include "support/text.h"

namespace distal::core {

namespace {

Plan validated_plan(std::shared_ptr<const Program> program, const Bindings& params, PlanOptions options) {
  validate(program->module, params);
  return make_plan(std::move(program), params, options);
}

void require_cpu(const Grid& grid, const std::string& engine) {
  if (grid.processor != Processor::GPU) return;
  throw Error(fmt::format("{} has gpu processors, and the {} engine has none", to_string(grid), engine), grid.span, {},
              Error::Kind::Resources);
}

}  // namespace

PreparedProgram::PreparedProgram(std::shared_ptr<const Program> program, const Bindings& params, PlanOptions options)
    : PreparedProgram(validated_plan(std::move(program), params, options)) {}

PreparedProgram::PreparedProgram(Plan plan, Leaves leaves) : plan_(std::move(plan)), given_leaves_(std::move(leaves)) {}

const MemoryNeeds& PreparedProgram::needs(bool own_memory) {
  std::lock_guard lock(mutex_);
  std::optional<MemoryNeeds>& wanted = needs_[own_memory ? 1 : 0];
  if (wanted) return *wanted;
  MemoryNeeds made = memory_needs(plan_, own_memory ? Reach::own() : Reach::all());
  verify(plan_, made, {.per_processor = made.peak_per_processor, .total = made.total});
  return wanted.emplace(std::move(made));
}

const Leaves& PreparedProgram::leaves(LeafChoice choice) {
  if (!given_leaves_.empty()) return given_leaves_;
  std::lock_guard lock(mutex_);
  auto found = leaves_.find(choice);
  if (found != leaves_.end()) return found->second;
  Leaves made;
  for (const StagePlan& stage : plan_.stages) made.push_back(make_leaf(stage, plan_.program->module.type, choice));
  return leaves_.emplace(choice, std::move(made)).first->second;
}

// Declarations of tensors and schedules may contain grids too.
void require_host(const Module& module, const std::string& engine) {
  for (const Machine& m : module.machines) {
    for (const Grid& g : m.levels) require_cpu(g, engine);
  }
  for (const Tensor& t : module.tensors) {
    for (const Grid& g : t.machine ? t.machine->levels : std::vector<Grid>{}) require_cpu(g, engine);
    if (t.memory != Memory::GPU_MEM) continue;
    throw Error(fmt::format("tensor {} lives in gpu memory, and the {} engine has none", t.name, engine), t.span, {},
                Error::Kind::Resources);
  }
  for (const ScheduledStatement& s : module.statements) {
    for (const Command& command : s.schedule) {
      const GridRef* onto = onto_of(command);
      if (onto && onto->grid) require_cpu(*onto->grid, engine);
    }
  }
}

void require_memory(int64_t need, int64_t have) {
  if (need <= have) return;
  throw Error(fmt::format("the run needs {}, and the machine has {}", bytes_in_full(need), bytes_in_full(have)), {},
              "choose smaller sizes with --set", Error::Kind::Resources);
}

}  // namespace distal::core
