#include "distal/leaves.h"

#include <algorithm>

#include "engine/legion/program.h"
#include "lang/parse.h"
#include "lang/ranges.h"
#include "lower/compile.h"
#include "plan/workspace.h"
#include "session/prepared_program.h"

namespace distal {

namespace {

std::vector<int> numbers_of(const core::StagePlan& stage, const std::vector<std::string>& variables) {
  const std::vector<std::string>& names = stage.space.names;
  std::vector<int> out;
  for (const std::string& v : variables) {
    auto found = std::find(names.begin(), names.end(), v);
    if (found == names.end()) throw Error("the program has no loop " + v);
    out.push_back(static_cast<int>(found - names.begin()));
  }
  return out;
}

// Whether an index of a statement has no values. Then its leaf has nothing to do, and the plan has other loops.
bool is_empty(const core::Program& program, size_t statement, const core::Bindings& params) {
  for (const auto& [name, extent] :
       core::variable_extents(program.module, program.stages[statement].source.statement)) {
    if (extent.evaluate(params) == 0) return true;
  }
  return false;
}

}  // namespace

struct Leaves::State {
  State(std::shared_ptr<const core::Program> compiled, const core::Bindings& params,
        const std::vector<std::vector<std::string>>& variables)
      : program(compiled, params, core::kLegionPlan), kernels(program.leaves(core::LeafChoice::Automatic)) {
    for (size_t s = 0; s < kernels.size(); ++s) {
      empty.push_back(is_empty(*compiled, s, params));
      numbers.push_back(empty[s] ? std::vector<int>{} : numbers_of(stage(s), variables.at(s)));
    }
  }

  core::PreparedProgram program;
  const core::Leaves& kernels;            // by statement
  std::vector<bool> empty;                // by statement
  std::vector<std::vector<int>> numbers;  // by statement: the numbers of the variables that the caller names

  const core::StagePlan& stage(size_t statement) const { return program.plan().stages[statement]; }
  core::ElementType type() const { return program.plan().program->module.type; }
};

namespace {

core::ElementType type_named(const std::string& name) {
  if (std::optional<core::ElementType> type = core::parse_element_type(name)) return *type;
  throw Error("there is no element type " + name);
}

// Workspaces of this thread's leaf; kept for the next one.
std::byte* workspaces(int64_t bytes) {
  thread_local std::vector<std::max_align_t> memory;
  auto units = static_cast<size_t>(bytes) / sizeof(std::max_align_t) + 1;
  if (memory.size() < units) memory.resize(units);
  return reinterpret_cast<std::byte*>(memory.data());
}

}  // namespace

Leaves::Leaves(const std::string& program, const std::map<std::string, std::int64_t>& params, const std::string& type,
               const std::vector<std::vector<std::string>>& variables) {
  core::Module module = core::parse_module(program, "the emitted program");
  module.type = type_named(type);
  core::Bindings values = core::bind(module, {params.begin(), params.end()});
  state_ = std::make_shared<State>(core::compile(module), values, variables);
}

void Leaves::run(std::size_t statement, const std::vector<std::int64_t>& values,
                 const std::vector<Operand>& operands) const {
  if (state_->empty.at(statement)) return;
  const core::StagePlan& stage = state_->stage(statement);
  core::LeafArguments arguments;
  const std::vector<int>& numbers = state_->numbers.at(statement);
  arguments.values.resize(stage.space.names.size());
  for (size_t v = 0; v < numbers.size(); ++v) arguments.values[static_cast<size_t>(numbers[v])] = values[v];
  const std::vector<core::LeafAccess>& accesses = core::leaf_of(*stage.stage).accesses;
  for (size_t a = 0; a < accesses.size(); ++a) {
    const int64_t* strides = operands[a].strides;
    core::View view{static_cast<std::byte*>(operands[a].data), 0, {}};
    view.strides.assign(strides, strides + accesses[a].indices.size());
    arguments.operands.push_back(std::move(view));
  }
  arguments.scratch = workspaces(core::workspace_bytes(stage, core::size_of(state_->type())));
  arguments.overwrite = begins(statement);
  state_->kernels[statement]->run(arguments);
}

bool Leaves::begins(std::size_t statement) const {
  return !state_->empty.at(statement) && state_->stage(statement).makes_whole_output &&
         state_->kernels[statement]->can_overwrite();
}

std::string Leaves::description(std::size_t statement) const { return state_->kernels[statement]->description(); }

}  // namespace distal
