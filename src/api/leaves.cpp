#include "distal/leaves.h"

#include "engine/legion/program.h"
#include "lang/parse.h"
#include "lower/compile.h"
#include "plan/workspace.h"
#include "session/prepared_program.h"

namespace distal {

struct Leaves::State {
  State(std::shared_ptr<const core::Program> compiled, const core::Bindings& params)
      : program(std::move(compiled), params, core::kLegionPlan), kernels(program.leaves(core::LeafChoice::Automatic)) {}

  core::PreparedProgram program;
  const core::Leaves& kernels;  // by statement

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

Leaves::Leaves(const std::string& program, const std::map<std::string, std::int64_t>& params, const std::string& type) {
  core::Module module = core::parse_module(program, "the emitted program");
  module.type = type_named(type);
  core::Bindings values = core::bind(module, {params.begin(), params.end()});
  state_ = std::make_shared<State>(core::compile(module), values);
}

void Leaves::run(std::size_t statement, const std::vector<std::int64_t>& values,
                 const std::vector<Operand>& operands) const {
  const core::StagePlan& stage = state_->stage(statement);
  core::LeafArguments arguments;
  arguments.values = values;
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
  return state_->stage(statement).makes_whole_output && state_->kernels[statement]->can_overwrite();
}

std::string Leaves::description(std::size_t statement) const { return state_->kernels[statement]->description(); }

}  // namespace distal
