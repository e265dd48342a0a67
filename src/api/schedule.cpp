#include "distal/schedule.h"

#include "api/state.h"
#include "distal/error.h"
#include "distal/tensor.h"
#include "ir/marks.h"

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

// What a distribute goes onto, and the number of its targets.
struct OntoFor {
  const Onto& onto;
  size_t targets;
};

// Makes the arguments of a command in the compiler's types. The params, machines and tensors that they bring with them
// must be declared in the program, so the definition notes them.
struct Arguments {
  Definition& definition;

  core::Argument operator()(const IndexVar& v) const { return to_core(v); }
  core::Argument operator()(const std::vector<IndexVar>& vs) const { return to_core(vs); }
  core::Argument operator()(const Expr& part) const { return part.expr(); }
  core::Argument operator()(const std::string& name) const { return core::Name{name, {}}; }
  core::Argument operator()(const Int& number) const {
    definition.numbers.push_back(number);
    return number.expr();
  }
  core::Argument operator()(const std::vector<TensorHandle>& tensors) const {
    std::vector<core::Name> out;
    for (const TensorHandle& t : tensors) out.push_back({t.name(), {}});
    return out;
  }
  // Roles of targets become a notation.
  core::Argument operator()(const OntoFor& to) const {
    const Onto::Target& target = to.onto.target();
    definition.numbers.insert(definition.numbers.end(), target.numbers.begin(), target.numbers.end());
    if (target.machine) definition.machines.push_back(*target.machine);
    core::GridRef out = target.ref;
    if (!target.roles.empty()) {
      out.notation = distal::to_core(target.roles, to.targets);
      for (const Distribution::Cyclic& c : target.cyclic) deal_out(c, *out.notation);
    }
    return out;
  }
};

template <class... Types>
Schedule& add(TensorState& tensor, const char* command, const Types&... arguments) {
  Definition& definition = definition_of(tensor);
  definition.schedule.push_back({command, {Arguments{definition}(arguments)...}, {}});
  return tensor.schedule;
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
  definition_of(*tensor_).tensors.push_back(workspace.state());
  return precompute(part, variables, copies, workspace.name());
}

}  // namespace distal
