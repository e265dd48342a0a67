#include "api/found.h"

#include <algorithm>
#include <set>

#include "api/module_parts.h"
#include "api/to_public.h"
#include "lang/validate.h"
#include "schedule/expand_precomputes.h"

namespace distal {

namespace {

NamedParams named_params(const BuiltModule& built) {
  NamedParams out;
  for (size_t p = 0; p < built.params.size(); ++p) out.emplace_back(built.module.params[p].name, built.params[p]);
  return out;
}

// Gives the parts of a found program to the handles.
class Giver {
 public:
  Giver(const BuiltModule& built, const core::Module& found)
      : built_(built), found_(found), params_(named_params(built)) {}

  std::vector<DefinedTensor> give(std::vector<std::shared_ptr<TensorState>>& workspaces) {
    make_workspaces(workspaces);
    std::vector<DefinedTensor> defined = built_.defined;
    for (size_t s = 0; s < defined.size(); ++s) {
      if (!defined[s].definition.schedule) give_schedule(found_.statements[s], defined[s].definition);
      give_grids(defined[s].definition);
    }
    for (size_t t = 0; t < built_.module.tensors.size(); ++t) {
      const core::Tensor& tensor = *found_.find_tensor(built_.module.tensors[t].name);
      if (built_.tensors[t]->has_free_format()) {
        built_.tensors[t]->settle(to_public(tensor, machine_of(tensor), params_));
      }
    }
    return defined;
  }

 private:
  // Tensors that the found schedules compute parts of a statement into.
  void make_workspaces(std::vector<std::shared_ptr<TensorState>>& workspaces) {
    for (const core::Tensor& tensor : found_.tensors) {
      if (built_.module.find_tensor(tensor.name)) continue;
      auto made = std::make_shared<TensorState>();
      made->type = found_.type;
      made->name = tensor.name;
      for (const core::IntExpr& e : tensor.dimensions) made->dimensions.push_back(to_public(e, params_));
      made->format = to_public(tensor, machine_of(tensor), params_);
      made_.emplace(tensor.name, made);
      workspaces.push_back(std::move(made));
    }
  }

  // Gives a statement its schedule. Names in the schedule become the keys of the handles.
  void give_schedule(const core::ScheduledStatement& scheduled, Definition& definition) const {
    if (scheduled.schedule.empty() && !scheduled.has_empty_schedule) return;
    std::vector<core::Command> commands = scheduled.schedule;
    std::map<std::string, std::string> variables = variable_keys(definition), names = handle_keys();
    std::map<std::string, core::IntExpr> numbers;
    for (const auto& [name, param] : params_) numbers.emplace(name, Int(param).expr());
    std::set<std::string> named;
    auto key = [](const std::map<std::string, std::string>& keys, std::string& name) {
      auto found = keys.find(name);
      if (found != keys.end()) name = found->second;
    };
    for_each_part(commands, core::Overloaded{[&](core::IndexVar& v) { key(variables, v.name); },
                                             [&](core::Name& name) {
                                               named.insert(name.text);
                                               key(names, name.text);
                                             },
                                             [&](std::string& tensor) { key(names, tensor); },
                                             [&](core::IntExpr& e) { e = e.substitute(numbers); },
                                             [](core::SourceSpan& span) { span = {}; }});
    definition.schedule = std::move(commands);
    for (const core::Machine& machine : found_.machines) {
      if (named.count(machine.name) > 0) definition.machines.push_back(machine_named(machine.name));
    }
    for (const auto& [name, param] : params_) definition.numbers.emplace_back(param);
    for (const auto& [name, workspace] : made_) {
      if (named.count(name) > 0) definition.tensors.push_back(workspace);
    }
  }

  // Gives the processors that a given schedule names the grid that was found for them.
  void give_grids(Definition& definition) const {
    std::map<std::string, std::string> keys;
    for (Machine& machine : definition.machines) {
      if (machine.has_grid()) continue;
      Machine found = machine_named(built_.names.at(key_of(machine)));
      keys.emplace(key_of(machine), key_of(found));
      machine = found;
    }
    if (keys.empty() || !definition.schedule) return;
    for_each_part(*definition.schedule, core::Overloaded{[&](core::Name& name) {
                                                           auto key = keys.find(name.text);
                                                           if (key != keys.end()) name.text = key->second;
                                                         },
                                                         [](auto&) {}});
  }

  std::map<std::string, std::string> variable_keys(const Definition& definition) const {
    std::map<std::string, std::string> keys;
    for (const IndexVar& v : definition.variables) keys.emplace(built_.names.at(key_of(v)), key_of(v));
    return keys;
  }

  // The keys of tensors and machines, by name.
  std::map<std::string, std::string> handle_keys() const {
    std::map<std::string, std::string> keys;
    for (size_t t = 0; t < built_.module.tensors.size(); ++t) {
      keys.emplace(built_.module.tensors[t].name, key_of(*built_.tensors[t]));
    }
    for (const auto& [name, workspace] : made_) keys.emplace(name, key_of(*workspace));
    for (const core::Machine& machine : found_.machines)
      keys.emplace(machine.name, key_of(machine_named(machine.name)));
    return keys;
  }

  // The machine of this name. If the user gave it no name, its handle has none.
  Machine machine_named(const std::string& name) const {
    std::string given = name;
    for (size_t m = 0; m < built_.machines.size(); ++m) {
      if (built_.module.machines[m].name == name) given = built_.machines[m].name();
    }
    return to_public(*found_.find_machine(name), params_, given);
  }

  Machine machine_of(const core::Tensor& tensor) const {
    if (!tensor.machine) return Machine(Grid(1));
    if (tensor.machine->name.empty()) return to_public(*tensor.machine, params_, "");
    return machine_named(tensor.machine->name);
  }

  const BuiltModule& built_;
  const core::Module& found_;
  NamedParams params_;
  std::map<std::string, std::shared_ptr<TensorState>> made_;  // workspaces by name
};

}  // namespace

core::FindOptions to_core(const FindOptions& options) {
  core::FindOptions out;
  out.goal = options.goal == Goal::Bytes ? core::Goal::Bytes : core::Goal::Time;
  out.memory_bytes = options.memory_bytes;
  out.model = options.model.empty() ? core::model_of_engine(options.engine) : core::read_model(options.model);
  out.progress = options.progress;
  return out;
}

FindModule find_here(const FindOptions& options) {
  return [found = to_core(options)](const core::Module& module, const core::Bindings& params) {
    return core::find_what_is_left_out(module, params, found).module;
  };
}

bool leaves_something_out(const BuiltModule& built) {
  auto is_free = [](const auto& tensor) { return tensor->has_free_format(); };
  return core::leaves_something_out(built.module) || std::any_of(built.tensors.begin(), built.tensors.end(), is_free);
}

std::vector<DefinedTensor> with_found(const BuiltModule& built, const FindModule& find,
                                      std::vector<std::shared_ptr<TensorState>>& workspaces) {
  core::Bindings params = values_of(built.module, built.params);
  core::validate(core::expand_precomputes(built.module), params);
  core::Module found = find(built.module, params);
  return Giver(built, found).give(workspaces);
}

}  // namespace distal
