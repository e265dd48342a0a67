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
    if (const auto& d = tensor.format.distribution()) add(d->machine(), Need::Place);
    if (const auto& machine = tensor.format.machine()) add(*machine, Need::FreeFormat);
    module_.tensors.push_back(to_core(tensor));
  }

  void add(const Definition& definition) {
    for (const Int& n : definition.numbers) add(n);
    for (const Machine& m : definition.machines) add(m, Need::Schedule);
    for (const IndexVar& v : definition.variables) names_.add(key_of(v), v.name(), 'i');
    core::ScheduledStatement scheduled{definition.statement, {}, std::nullopt, true};
    if (definition.schedule) scheduled.schedule = *definition.schedule;
    scheduled.has_empty_schedule = definition.schedule && definition.schedule->empty();
    module_.statements.push_back(std::move(scheduled));
  }

  BuiltModule finish(core::ElementType type) {
    module_.type = type;
    for (const auto& p : params_) module_.params.push_back({key_of(*p), core::IntExpr(p->value), {}});
    declare_machines();
    BuiltModule built;
    built.names = names_.apply(module_);
    place_at_calls(module_);
    built.module = std::move(module_);
    built.machines = std::move(declared_);
    built.params = std::move(params_);
    return built;
  }

 private:
  // What a machine must be declared for: the weakest first.
  enum class Need { Place, FreeFormat, Schedule };
  struct Used {
    Machine machine;
    Need need;
  };

  void add(const Machine& machine, Need need) {
    for (const Int& n : numbers_of(machine)) add(n);
    std::string key = key_of(machine);
    auto known =
        std::find_if(machines_.begin(), machines_.end(), [&](const Used& u) { return key_of(u.machine) == key; });
    if (known == machines_.end())
      machines_.push_back({machine, need});
    else
      known->need = std::max(known->need, need);
  }

  // Whether both are the same Processors with another grid.
  static bool differ_in_grid(const Machine& a, const Machine& b) {
    bool are_named_alike = !a.name().empty() && a.name() == b.name();
    return are_named_alike && a.processors() && b.processors() && a.processors()->expr() == b.processors()->expr();
  }

  bool is_declared(const Used& used) const {
    if (used.need == Need::Schedule) return true;
    return std::none_of(machines_.begin(), machines_.end(), [&](const Used& other) {
      return &other != &used && differ_in_grid(other.machine, used.machine) &&
             (other.need > used.need || (other.need == used.need && &other < &used));
    });
  }

  void declare_machines() {
    for (const Used& used : machines_) {
      if (is_declared(used)) {
        names_.add(key_of(used.machine), used.machine.name(), 'M');
        module_.machines.push_back(to_core(used.machine));
        declared_.push_back(used.machine);
      } else {
        write_in_place(key_of(used.machine));
      }
    }
  }

  // Processors without a grid are a line to a distribution.
  void write_in_place(const std::string& key) {
    for (core::Tensor& tensor : module_.tensors) {
      if (!tensor.machine || tensor.machine->name != key) continue;
      tensor.machine->name.clear();
      if (!tensor.machine->is_free) continue;
      tensor.machine->processors.reset();
      tensor.machine->is_free = false;
    }
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
  std::vector<Used> machines_;
  std::vector<Machine> declared_;
  Names names_;
};

// Refuses two variables with the same name in one statement: the text could not tell them apart.
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
    std::string type = core::to_string(tensors[0]->type);
    throw Error(fmt::format("{} has elements of type {}, and {} of type {}; a program computes with one type",
                            t->label(), core::to_string(t->type), tensors[0]->shown_name(), type),
                {}, fmt::format("declare it as Tensor<{}>, and convert its elements when you fill it", type));
  }
}

// Each defined tensor, followed by the tensors of its statement.
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
  std::vector<std::shared_ptr<TensorState>> tensors = tensors_of(defined);
  require_one_type(tensors);
  Builder builder;
  for (const auto& t : tensors) builder.add(*t);
  for (const DefinedTensor& d : defined) builder.add(d.definition);
  BuiltModule built = builder.finish(tensors[0]->type);
  for (const auto& t : tensors) built.times_redistributed.push_back(t->times_redistributed);
  built.tensors = std::move(tensors);
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
BuiltModule declare(const TensorState& tensor) {
  Builder builder;
  builder.add(tensor);
  BuiltModule built = builder.finish(tensor.type);
  core::check_declarations(built.module);
  return built;
}

}  // namespace

CheckedTensor check_tensor(const TensorState& tensor) {
  BuiltModule built = declare(tensor);
  core::Bindings params = values_of(built.module, built.params);
  core::validate(built.module, params);
  return {built.module.tensors[0], params};
}

bool is_stale(const BuiltModule& built) {
  for (size_t t = 0; t < built.tensors.size(); ++t) {
    if (built.tensors[t]->times_redistributed != built.times_redistributed[t]) return true;
  }
  return false;
}

DefinedTensor defined(const std::shared_ptr<TensorState>& tensor) {
  if (!tensor->definition) throw Error(tensor->label() + " has no statement to compile", {}, how_to_define(*tensor));
  tensor->definition->is_compiled = true;
  return {tensor, *tensor->definition};
}

std::vector<DefinedTensor> all_defined(const std::vector<TensorHandle>& tensors) {
  if (tensors.empty()) throw Error("a kernel needs at least one defined tensor");
  std::vector<DefinedTensor> all;
  for (const TensorHandle& t : tensors) all.push_back(defined(t.state()));
  return all;
}

DefinedTensor defined_as_copy(const std::shared_ptr<TensorState>& to, const std::shared_ptr<TensorState>& from) {
  declare(*to);  // the copy follows its format
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
