#include "api/module_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/calls.h"
#include "distal/error.h"
#include "lang/check.h"
#include "schedule/redistribute.h"

namespace distal {

namespace {

template <class T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

class Builder {
 public:
  BuiltModule run(std::vector<DefinedTensor> defined) {
    for (const DefinedTensor& d : defined) add_statement(d.tensor, d.definition);
    built_.defined = std::move(defined);
    for (const auto& p : built_.params) built_.module.params.push_back({p->name, core::IntExpr(p->value), {}});
    for (const auto& t : built_.tensors) {
      built_.module.tensors.push_back(to_core(*t));
      built_.times_redistributed.push_back(t->times_redistributed);
      if (t->type != built_.tensors[0]->type) {
        throw Error(fmt::format(
            "tensor {} has elements of type {}, and {} of type {}; a program computes with one type", t->name,
            core::to_string(t->type), built_.tensors[0]->name, core::to_string(built_.tensors[0]->type)));
      }
    }
    built_.module.type = built_.tensors[0]->type;
    place_at_calls(built_.module);
    core::check(built_.module);
    return std::move(built_);
  }

 private:
  void add_statement(const std::shared_ptr<TensorState>& tensor, const Definition& definition) {
    add_tensor(tensor);
    for (const auto& t : definition.tensors) {
      std::shared_ptr<TensorState> alive = t.lock();
      if (!alive) {
        throw Error(fmt::format("a tensor in {} is gone; keep it until the kernel is compiled",
                                core::to_string(definition.statement)));
      }
      add_tensor(alive);
    }
    for (const Int& n : definition.numbers) add_params(n);
    for (const Machine& m : definition.machines) add_machine(m);
    built_.module.statements.push_back({definition.statement, definition.schedule, std::nullopt, true});
  }

  void add_tensor(const std::shared_ptr<TensorState>& tensor) {
    add_once(built_.tensors, tensor);
    for (const Int& n : numbers_of(*tensor)) add_params(n);
    if (const auto& d = tensor->format.distribution()) add_machine(d->machine());
    if (const auto& machine = tensor->format.machine()) add_machine(*machine);
  }

  void add_machine(const Machine& machine) {
    for (const Int& n : numbers_of(machine)) add_params(n);
    core::Machine made = to_core(machine);
    for (const core::Machine& m : built_.module.machines) {
      if (m == made) return;
    }
    built_.module.machines.push_back(std::move(made));
  }

  void add_params(const Int& number) {
    for (const auto& p : number.params()) add_once(built_.params, p);
  }

  BuiltModule built_;
};

}  // namespace

BuiltModule build_module(std::vector<DefinedTensor> defined) { return Builder().run(std::move(defined)); }

bool is_stale(const BuiltModule& built) {
  for (size_t t = 0; t < built.tensors.size(); ++t) {
    if (built.tensors[t]->times_redistributed != built.times_redistributed[t]) return true;
  }
  return false;
}

DefinedTensor defined(const std::shared_ptr<TensorState>& tensor) {
  if (!tensor->definition) throw Error(fmt::format("tensor {} has no statement to compile", tensor->name));
  return {tensor, *tensor->definition};
}

DefinedTensor defined_as_copy(const std::shared_ptr<TensorState>& to, const std::shared_ptr<TensorState>& from) {
  core::ScheduledStatement copy = core::redistribution(to_core(*to), from->name);
  return {to, {copy.statement, copy.schedule, {from}, {}, {}}};
}

std::vector<Int> numbers_of(const Machine& machine) {
  std::vector<Int> out;
  if (machine.processors()) out.push_back(*machine.processors());
  for (const Grid& g : machine.levels()) out.insert(out.end(), g.extents().begin(), g.extents().end());
  return out;
}

std::vector<Int> numbers_of(const TensorState& tensor) {
  std::vector<Int> out = tensor.dimensions;
  auto add_machine = [&](const Machine& machine) {
    std::vector<Int> more = numbers_of(machine);
    out.insert(out.end(), more.begin(), more.end());
  };
  if (const auto& machine = tensor.format.machine()) add_machine(*machine);
  const auto& distribution = tensor.format.distribution();
  if (!distribution) return out;
  add_machine(distribution->machine());
  for (const std::vector<Role>& level : distribution->levels()) {
    for (const Role& role : level) {
      if (const auto* face = std::get_if<Face>(&role.role())) out.push_back(face->at);
    }
  }
  for (const Distribution::Cyclic& c : distribution->cyclic_dimensions()) out.push_back(c.block);
  return out;
}

core::Bindings values_of(const std::vector<std::shared_ptr<Param::State>>& params) {
  core::Bindings out;
  for (const auto& p : params) out[p->name] = p->value;
  return out;
}

}  // namespace distal
