#include "distal/schedule.h"

#include "api/state.h"
#include "distal/error.h"
#include "distal/tensor.h"

namespace distal {

namespace {

core::IndexVar to_core(const IndexVar& v) { return {v.name(), {}}; }

std::vector<core::IndexVar> to_core(const std::vector<IndexVar>& vs) {
  std::vector<core::IndexVar> out;
  for (const IndexVar& v : vs) out.push_back(to_core(v));
  return out;
}

Definition& definition_of(TensorState& tensor) {
  if (!tensor.definition) {
    throw Error("tensor " + tensor.name + " has no statement to schedule", {},
                "define it first, for example " + tensor.name + "(i, j) = B(i, k) * C(k, j)");
  }
  return *tensor.definition;
}

template <class Action>
void add(TensorState& tensor, Action action) {
  definition_of(tensor).schedule.push_back({std::move(action), {}});
}

// The grid. Roles of targets become a notation with `targets` dimensions.
core::GridRef ref_for(const Onto::Target& target, size_t targets) {
  core::GridRef out = target.ref;
  if (target.roles.empty()) return out;
  out.notation = distal::to_core(target.roles, targets);
  for (const Distribution::Cyclic& c : target.cyclic) deal_out(c, *out.notation);
  return out;
}

// The params and machines that a target brings with it must be declared in the program.
void note(TensorState& tensor, const Onto::Target& target) {
  Definition& definition = definition_of(tensor);
  definition.numbers.insert(definition.numbers.end(), target.numbers.begin(), target.numbers.end());
  if (target.machine) definition.machines.push_back(*target.machine);
}

}  // namespace

Onto::Onto(const Machine& machine)
    : target_(std::make_shared<Target>(
          Target{{{machine.name(), {}}, std::nullopt, std::nullopt, std::nullopt, {}}, {}, machine, {}, {}})) {}

Onto::Onto(const Machine::Level& level)
    : target_(std::make_shared<Target>(Target{
          {{level.machine.name(), {}}, level.level, std::nullopt, std::nullopt, {}}, {}, level.machine, {}, {}})) {}

Onto::Onto(const Grid& grid)
    : target_(std::make_shared<Target>(Target{
          {{"", {}}, std::nullopt, distal::to_core(grid), std::nullopt, {}}, grid.extents(), std::nullopt, {}, {}})) {}

Onto::Onto(const TensorHandle& tensor)
    : target_(std::make_shared<Target>(
          Target{{{tensor.name(), {}}, std::nullopt, std::nullopt, std::nullopt, {}}, {}, std::nullopt, {}, {}})) {}

Onto::Onto(const TensorHandle& tensor, int level) : Onto(tensor) { target_->ref.level = level; }

Onto::Onto(const Onto& grid, std::vector<Role> roles) : target_(std::make_shared<Target>(grid.target())) {
  for (const Role& role : roles) {
    if (const auto* face = std::get_if<Face>(&role.role())) target_->numbers.push_back(face->at);
  }
  target_->roles = std::move(roles);
}

Onto& Onto::cyclic(int target, const Int& block) {
  target_ = std::make_shared<Target>(*target_);
  target_->numbers.push_back(block);
  target_->cyclic.push_back({target, block, 0});
  return *this;
}

Schedule& Schedule::split(const IndexVar& target, const IndexVar& outer, const IndexVar& inner, const Int& size) {
  add(*tensor_, core::SplitCommand{to_core(target), to_core(outer), to_core(inner), size.expr()});
  definition_of(*tensor_).numbers.push_back(size);
  return *this;
}

Schedule& Schedule::divide(const IndexVar& target, const IndexVar& outer, const IndexVar& inner, const Int& parts) {
  add(*tensor_, core::DivideCommand{to_core(target), to_core(outer), to_core(inner), parts.expr()});
  definition_of(*tensor_).numbers.push_back(parts);
  return *this;
}

Schedule& Schedule::collapse(const IndexVar& outer, const IndexVar& inner, const IndexVar& fused) {
  add(*tensor_, core::CollapseCommand{to_core(outer), to_core(inner), to_core(fused)});
  return *this;
}

Schedule& Schedule::reorder(const std::vector<IndexVar>& order) {
  add(*tensor_, core::ReorderCommand{to_core(order)});
  return *this;
}

Schedule& Schedule::rotate(const IndexVar& target, const std::vector<IndexVar>& by, const IndexVar& result) {
  add(*tensor_, core::RotateCommand{to_core(target), to_core(by), to_core(result)});
  return *this;
}

Schedule& Schedule::distribute(const IndexVar& variable) { return distribute(std::vector<IndexVar>{variable}); }

Schedule& Schedule::distribute(const std::vector<IndexVar>& variables) {
  add(*tensor_, core::DistributeCommand{to_core(variables), std::nullopt});
  return *this;
}

Schedule& Schedule::distribute(const std::vector<IndexVar>& variables, const Onto& onto) {
  if (!onto.target().roles.empty()) {
    throw Error("distribute: roles are those of targets; name their distributed and local loops too");
  }
  add(*tensor_, core::DistributeCommand{to_core(variables), onto.target().ref});
  note(*tensor_, onto.target());
  return *this;
}

Schedule& Schedule::distribute(const std::vector<IndexVar>& targets, const std::vector<IndexVar>& distributed,
                               const std::vector<IndexVar>& local, const Onto& onto) {
  add(*tensor_, core::DistributeOntoCommand{to_core(targets), to_core(distributed), to_core(local),
                                            ref_for(onto.target(), targets.size())});
  note(*tensor_, onto.target());
  return *this;
}

Schedule& Schedule::communicate(const TensorHandle& tensor, const IndexVar& at) {
  return communicate(std::vector<TensorHandle>{tensor}, at);
}

Schedule& Schedule::communicate(const std::vector<TensorHandle>& tensors, const IndexVar& at) {
  core::CommunicateCommand command{{}, to_core(at)};
  for (const TensorHandle& t : tensors) command.tensors.push_back({t.name(), {}});
  add(*tensor_, std::move(command));
  return *this;
}

Schedule& Schedule::substitute(const std::vector<IndexVar>& variables, const LeafKernelName& kernel) {
  add(*tensor_, core::SubstituteCommand{to_core(variables), {kernel.name, {}}});
  return *this;
}

Schedule& Schedule::parallelize(const IndexVar& variable, OutputRace race) {
  core::Race how = race == OutputRace::None        ? core::Race::None
                   : race == OutputRace::Reduction ? core::Race::Reduction
                                                   : core::Race::Atomics;
  add(*tensor_, core::ParallelizeCommand{to_core(variable), how});
  return *this;
}

Schedule& Schedule::unroll(const IndexVar& variable, const Int& factor) {
  add(*tensor_, core::UnrollCommand{to_core(variable), factor.expr()});
  definition_of(*tensor_).numbers.push_back(factor);
  return *this;
}

Schedule& Schedule::vectorize(const IndexVar& variable) {
  add(*tensor_, core::VectorizeCommand{to_core(variable)});
  return *this;
}

Schedule& Schedule::precompute(const Expr& part, const std::vector<IndexVar>& variables,
                               const std::vector<IndexVar>& copies, const std::string& workspace) {
  add(*tensor_, core::PrecomputeCommand{part.expr(), to_core(variables), to_core(copies), {workspace, {}}});
  return *this;
}

Schedule& Schedule::precompute(const Expr& part, const std::vector<IndexVar>& variables,
                               const std::vector<IndexVar>& copies, const TensorHandle& workspace) {
  definition_of(*tensor_).tensors.push_back(workspace.state());
  return precompute(part, variables, copies, workspace.name());
}

}  // namespace distal
