#include "api/module_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/calls.h"
#include "api/names.h"
#include "distal/error.h"
#include "lang/check.h"
#include "lang/validate.h"
#include "schedule/expand_updates.h"
#include "schedule/redistribute.h"

namespace distal {

namespace {

// Collects declarations and statements, named by the keys of the handles, and then gives them names and places.
class Builder {
 public:
  void add(const TensorState& tensor) {
    names_.add(key_of(tensor), tensor.name, 'T');
    for (const Int& n : numbers_of(tensor)) add(n);
    if (const auto& d = tensor.format.distribution()) add(d->machine());
    if (const auto& machine = tensor.format.machine()) add(*machine);
    module_.tensors.push_back(to_core(tensor));
  }

  void add(const Definition& definition) {
    for (const Int& n : definition.numbers) add(n);
    for (const Machine& m : definition.machines) add(m);
    for (const IndexVar& v : definition.variables) names_.add(key_of(v), v.name(), 'i');
    core::ScheduledStatement scheduled{definition.statement, {}, std::nullopt, true};
    if (definition.schedule) scheduled.schedule = *definition.schedule;
    scheduled.has_empty_schedule = definition.schedule && definition.schedule->empty();
    module_.statements.push_back(std::move(scheduled));
  }

  const std::vector<std::shared_ptr<Param::State>>& params() const { return params_; }

  core::Module finish(core::ElementType type) {
    module_.type = type;
    for (const auto& p : params_) module_.params.push_back({key_of(*p), core::IntExpr(p->value), {}});
    names_.apply(module_);
    place_at_calls(module_);
    return std::move(module_);
  }

 private:
  void add(const Machine& machine) {
    for (const Int& n : numbers_of(machine)) add(n);
    std::string key = key_of(machine);
    names_.add(key, machine.name(), 'M');
    if (!module_.find_machine(key)) module_.machines.push_back(to_core(machine));
  }

  void add(const Int& number) {
    for (const auto& p : number.params()) {
      if (std::find(params_.begin(), params_.end(), p) != params_.end()) continue;
      params_.push_back(p);
      names_.add(key_of(*p), p->name, 'p');
    }
  }

  core::Module module_;
  std::vector<std::shared_ptr<Param::State>> params_;
  Names names_;
};

// The text could not tell them apart.
void require_distinct_names(const std::vector<IndexVar>& variables, const core::Statement& statement) {
  std::map<std::string, const void*> known;
  for (const IndexVar& v : variables) {
    if (v.name().empty() || known.emplace(v.name(), v.identity()).first->second == v.identity()) continue;
    throw Error(fmt::format("two variables are called `{}`", v.name()), statement.span,
                "a copy of an IndexVar is the same variable; give another one a name of its own");
  }
}

void require_one_type(const std::vector<std::shared_ptr<TensorState>>& tensors) {
  for (const auto& t : tensors) {
    if (t->type == tensors[0]->type) continue;
    throw Error(fmt::format("{} has elements of type {}, and {} of type {}; a program computes with one type",
                            t->label(), core::to_string(t->type), tensors[0]->shown_name(),
                            core::to_string(tensors[0]->type)));
  }
}

// Each defined tensor, and behind it those of its statement.
std::vector<std::shared_ptr<TensorState>> tensors_of(const std::vector<DefinedTensor>& defined) {
  std::vector<std::shared_ptr<TensorState>> out;
  auto add = [&](const std::shared_ptr<TensorState>& tensor) {
    if (std::find(out.begin(), out.end(), tensor) == out.end()) out.push_back(tensor);
  };
  for (const DefinedTensor& d : defined) {
    add(d.tensor);
    for (const auto& t : d.definition.tensors) {
      std::shared_ptr<TensorState> alive = t.lock();
      if (!alive) {
        throw Error(fmt::format("{}: a tensor of its statement is gone; keep it until the kernel is compiled",
                                d.tensor->label()));
      }
      add(alive);
    }
  }
  return out;
}

// A statement that reads its output reads a copy of it, whose pieces the kernel owns.
void add_copies_of_outputs(BuiltModule& built) {
  const std::vector<core::Tensor> all = core::expand_updates(built.module).tensors;
  for (const core::ScheduledStatement& s : built.module.statements) {
    if (!core::reads_output(s.statement)) continue;
    auto is_output = [&](const core::Tensor& t) { return t.name == s.statement.lhs.tensor; };
    auto at = std::find_if(all.begin(), all.end(), is_output) - all.begin();
    const TensorState& output = *built.tensors[static_cast<size_t>(at)];
    auto copy = std::make_shared<TensorState>();
    copy->type = output.type;
    copy->name = all[built.tensors.size()].name;
    copy->dimensions = output.dimensions;
    copy->format = output.format;
    built.tensors.push_back(std::move(copy));
    built.times_redistributed.push_back(0);
  }
}

}  // namespace

BuiltModule build_module(std::vector<DefinedTensor> defined) {
  BuiltModule built;
  built.tensors = tensors_of(defined);
  require_one_type(built.tensors);
  Builder builder;
  for (const auto& t : built.tensors) {
    builder.add(*t);
    built.times_redistributed.push_back(t->times_redistributed);
  }
  for (const DefinedTensor& d : defined) builder.add(d.definition);
  built.module = builder.finish(built.tensors[0]->type);
  built.params = builder.params();
  for (size_t s = 0; s < defined.size(); ++s) {
    require_distinct_names(defined[s].definition.variables, built.module.statements[s].statement);
  }
  core::check(built.module);
  add_copies_of_outputs(built);
  built.defined = std::move(defined);
  return built;
}

namespace {

// A module that declares only this tensor, checked but for its numbers.
core::Module declare(const TensorState& tensor, Builder& builder) {
  builder.add(tensor);
  core::Module module = builder.finish(tensor.type);
  core::check_declarations(module);
  return module;
}

}  // namespace

CheckedTensor check_tensor(const TensorState& tensor) {
  Builder builder;
  core::Module module = declare(tensor, builder);
  core::Bindings params = values_of(module, builder.params());
  core::validate(module, params);
  return {module.tensors[0], params};
}

bool is_stale(const BuiltModule& built) {
  for (size_t t = 0; t < built.tensors.size(); ++t) {
    if (built.tensors[t]->times_redistributed != built.times_redistributed[t]) return true;
  }
  return false;
}

DefinedTensor defined(const std::shared_ptr<TensorState>& tensor) {
  if (!tensor->definition) throw Error(tensor->label() + " has no statement to compile");
  return {tensor, *tensor->definition};
}

DefinedTensor defined_as_copy(const std::shared_ptr<TensorState>& to, const std::shared_ptr<TensorState>& from) {
  Builder builder;
  declare(*to, builder);  // the copy follows its format
  core::ScheduledStatement copy = core::redistribution(to_core(*to), key_of(*from));
  return {to, {copy.statement, copy.schedule, {from}, {}, {}, {}}};
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

core::Bindings values_of(const core::Module& module, const std::vector<std::shared_ptr<Param::State>>& params) {
  core::Bindings out;
  for (size_t p = 0; p < params.size(); ++p) out[module.params[p].name] = params[p]->value;
  return out;
}

}  // namespace distal
