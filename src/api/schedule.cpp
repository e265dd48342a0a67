#include "distal/schedule.h"

#include "api/calls.h"
#include "api/state.h"
#include "distal/error.h"
#include "distal/tensor.h"
#include "ir/marks.h"

namespace distal {

namespace {

Definition& definition_of(TensorState& tensor) {
  if (!tensor.definition) {
    throw Error(tensor.label() + " has no statement to schedule", {}, how_to_define(tensor));
  }
  Definition& definition = *tensor.definition;
  if (!definition.schedule) definition.schedule.emplace();  // defined anew since schedule() was called
  return definition;
}

// What a distribute goes onto, and the number of its targets.
struct OntoFor {
  const Onto& onto;
  size_t targets;
};

// Makes the arguments of a command in the compiler's types. The params, machines and tensors that they bring with them
// must be declared in the program, so the definition notes them.
struct Arguments {
  Definition& definition;
  std::string label;  // of the schedule

  core::Argument operator()(const IndexVar& v) const {
    definition.variables.push_back(v);
    return to_core(v);
  }
  core::Argument operator()(const std::vector<IndexVar>& vs) const {
    definition.variables.insert(definition.variables.end(), vs.begin(), vs.end());
    return to_core(vs);
  }
  core::Argument operator()(const Expr& part) const {
    definition.add(part);
    return part.expr();
  }
  core::Argument operator()(const std::string& name) const { return core::Name{name, {}}; }
  core::Argument operator()(const Int& number) const {
    definition.numbers.push_back(number);
    return number.expr();
  }
  core::Argument operator()(const TensorHandle& workspace) const {
    definition.tensors.push_back(workspace.state());
    return core::Name{key_of(*workspace.state()), {}};
  }
  core::Argument operator()(const std::vector<TensorHandle>& tensors) const {
    std::vector<core::Name> out;
    for (const TensorHandle& t : tensors) {
      definition.tensors.push_back(t.state());
      out.push_back({key_of(*t.state()), {}});
    }
    return out;
  }
  // Roles of targets become a notation.
  core::Argument operator()(const OntoFor& to) const {
    const Onto::Target& target = to.onto.target();
    definition.numbers.insert(definition.numbers.end(), target.numbers.begin(), target.numbers.end());
    if (target.machine) definition.machines.push_back(*target.machine);
    if (target.tensor) definition.tensors.push_back(target.tensor);
    core::GridRef out = target.ref;
    if (target.roles.empty() && !target.cyclic.empty()) {
      throw Error("distribute: cyclic deals out a target that has a role, and there are no roles", at_call(label),
                  "name a role for each dimension of the grid, as in Onto(m, {0, 1}).cyclic(0, 64)");
    }
    if (!target.roles.empty()) {
      out.notation = distal::to_core(target.roles, to.targets);
      for (const Distribution::Cyclic& c : target.cyclic) deal_out(c, to.targets, *out.notation, at_call(label));
    }
    return out;
  }
};

template <class... Types>
Schedule& add(TensorState& tensor, const char* command, const Types&... arguments) {
  Definition& definition = definition_of(tensor);
  definition.schedule->push_back(
      {command, {Arguments{definition, tensor.shown_name() + ".schedule()"}(arguments)...}, {}});
  return tensor.schedule;
}

}  // namespace

Onto::Onto(const Machine& machine) : target_(std::make_shared<Target>()) {
  target_->ref.name.text = key_of(machine);
  target_->machine = machine;
}

Onto::Onto(const Machine::Level& level) : Onto(level.machine) { target_->ref.level = level.level; }

Onto::Onto(const Grid& grid) : target_(std::make_shared<Target>()) {
  target_->ref.grid = distal::to_core(grid);
  target_->numbers = grid.extents();
}

Onto::Onto(const TensorHandle& tensor) : target_(std::make_shared<Target>()) {
  target_->ref.name.text = key_of(*tensor.state());
  target_->tensor = tensor.state();
}

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
  return add(*tensor_, "split", target, outer, inner, size);
}

Schedule& Schedule::divide(const IndexVar& target, const IndexVar& outer, const IndexVar& inner, const Int& parts) {
  return add(*tensor_, "divide", target, outer, inner, parts);
}

Schedule& Schedule::collapse(const IndexVar& outer, const IndexVar& inner, const IndexVar& fused) {
  return add(*tensor_, "collapse", outer, inner, fused);
}

Schedule& Schedule::reorder(const std::vector<IndexVar>& order) { return add(*tensor_, "reorder", order); }

Schedule& Schedule::rotate(const IndexVar& target, const std::vector<IndexVar>& by, const IndexVar& result) {
  return add(*tensor_, "rotate", target, by, result);
}

Schedule& Schedule::distribute(const IndexVar& variable) { return distribute(std::vector<IndexVar>{variable}); }

Schedule& Schedule::distribute(const std::vector<IndexVar>& variables) {
  return add(*tensor_, "distribute", variables);
}

Schedule& Schedule::distribute(const std::vector<IndexVar>& variables, const Onto& onto) {
  if (!onto.target().roles.empty()) {
    throw Error("distribute: roles are those of targets; name their distributed and local loops too");
  }
  return add(*tensor_, "distribute", variables, OntoFor{onto, 0});
}

Schedule& Schedule::distribute(const std::vector<IndexVar>& targets, const std::vector<IndexVar>& distributed,
                               const std::vector<IndexVar>& local, const Onto& onto) {
  return add(*tensor_, "distribute", targets, distributed, local, OntoFor{onto, targets.size()});
}

Schedule& Schedule::communicate(const TensorHandle& tensor, const IndexVar& at) {
  return communicate(std::vector<TensorHandle>{tensor}, at);
}

Schedule& Schedule::communicate(const std::vector<TensorHandle>& tensors, const IndexVar& at) {
  return add(*tensor_, "communicate", tensors, at);
}

Schedule& Schedule::substitute(const std::vector<IndexVar>& variables, const LeafKernelName& kernel) {
  return add(*tensor_, "substitute", variables, kernel.name);
}

Schedule& Schedule::parallelize(const IndexVar& variable, OutputRace race) {
  if (race == OutputRace::None) return add(*tensor_, "parallelize", variable);
  return add(*tensor_, "parallelize", variable, core::to_string(race));
}

Schedule& Schedule::unroll(const IndexVar& variable, const Int& factor) {
  return add(*tensor_, "unroll", variable, factor);
}

Schedule& Schedule::vectorize(const IndexVar& variable) { return add(*tensor_, "vectorize", variable); }

Schedule& Schedule::precompute(const Expr& part, const std::vector<IndexVar>& variables,
                               const std::vector<IndexVar>& copies, const std::string& workspace) {
  return add(*tensor_, "precompute", part, variables, copies, workspace);
}

Schedule& Schedule::precompute(const Expr& part, const std::vector<IndexVar>& variables,
                               const std::vector<IndexVar>& copies, const TensorHandle& workspace) {
  return add(*tensor_, "precompute", part, variables, copies, workspace);
}

}  // namespace distal
