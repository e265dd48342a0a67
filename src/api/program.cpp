#include "distal/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/found.h"
#include "api/kernel_state.h"
#include "api/to_public.h"
#include "lang/parse.h"
#include "lang/suggest.h"
#include "lang/validate.h"
#include "schedule/expand_precomputes.h"

namespace distal {

namespace {

template <class Item>
const Item& named(const std::vector<Item>& items, const std::string& name, const char* kind) {
  std::vector<std::string> known;
  for (const Item& item : items) {
    if (item.name() == name) return item;
    known.push_back(item.name());
  }
  throw Error(fmt::format("there is no {} {} in the program", kind, name), {},
              fmt::format("the {}s are {}{}", kind, core::listing(known), core::did_you_mean(name, known)));
}

template <class Item>
std::vector<std::string> names_of(const std::vector<Item>& items) {
  std::vector<std::string> out;
  for (const Item& item : items) out.push_back(item.name());
  return out;
}

}  // namespace

// A module as objects of the library. Its statements stay those of the compiler.
struct Program::State {
  State(const core::Module& written, const core::Bindings& given, const FindOptions& find) {
    core::Bindings values = core::bind(written, given);
    core::validate(core::expand_precomputes(written), values);
    core::Module module = find_here(find)(written, values);
    for (const core::Param& p : module.params) params.emplace_back(p.name, values.at(p.name));
    for (const core::Machine& m : module.machines) machines.push_back(to_public(m, named_params(), m.name));
    for (const core::Tensor& t : module.tensors) add_tensor(t, module);
    std::vector<DefinedTensor> defined;
    for (const core::ScheduledStatement& s : module.statements) defined.push_back(define(s));
    kernel = std::make_unique<Kernel>(Kernel(std::make_shared<Kernel::State>(std::move(defined))));
  }

  NamedParams named_params() const { return distal::named(params); }

  // If the file writes a machine in place that equals a declared one, both become the same handle.
  Machine machine_of(const core::Tensor& tensor, const core::Module& module) const {
    if (!tensor.machine) return Machine(Grid(1));
    for (size_t m = 0; m < machines.size(); ++m) {
      core::Machine declared = module.machines[m];
      bool in_place = tensor.machine->name.empty();
      if (in_place) declared.name.clear();
      if (in_place ? declared == *tensor.machine : declared.name == tensor.machine->name) return machines[m];
    }
    return to_public(*tensor.machine, named_params(), "");
  }

  void add_tensor(const core::Tensor& tensor, const core::Module& module) {
    std::vector<Int> sizes;
    for (const core::IntExpr& e : tensor.dimensions) sizes.push_back(to_public(e, named_params()));
    tensors.emplace_back(module.type, tensor.name, std::move(sizes),
                         to_public(tensor, machine_of(tensor, module), named_params()));
  }

  DefinedTensor define(const core::ScheduledStatement& scheduled) const {
    Definition definition{scheduled.statement, std::nullopt, {}, {}, machines, {}};
    bool has_schedule = scheduled.has_empty_schedule || !scheduled.schedule.empty();
    if (has_schedule) definition.schedule = scheduled.schedule;
    for (const TensorHandle& t : tensors) definition.tensors.push_back(t.state());
    for (const Param& p : params) definition.numbers.emplace_back(p);
    const TensorHandle& output = named(tensors, scheduled.statement.lhs.tensor, "tensor");
    output.state()->definition = definition;
    return {output.state(), std::move(definition)};
  }

  std::vector<Param> params;
  std::vector<Machine> machines;
  std::vector<TensorHandle> tensors;
  std::unique_ptr<Kernel> kernel;
};

Program Program::load(const std::string& file, const std::map<std::string, int64_t>& params,
                      std::optional<ElementKind> type, const FindOptions& find) {
  core::Module module = core::parse_file(file);
  if (type) module.type = *type;
  return Program(std::make_shared<State>(module, core::Bindings(params.begin(), params.end()), find));
}

Program Program::parse(const std::string& text, const std::map<std::string, int64_t>& params,
                       std::optional<ElementKind> type, const FindOptions& find) {
  core::Module module = core::parse_module(text, "program");
  if (type) module.type = *type;
  return Program(std::make_shared<State>(module, core::Bindings(params.begin(), params.end()), find));
}

const Kernel& Program::kernel() const { return *state_->kernel; }

std::vector<std::string> Program::tensors() const { return names_of(state_->tensors); }

TensorHandle Program::tensor(const std::string& name) const { return named(state_->tensors, name, "tensor"); }

std::vector<std::string> Program::params() const { return names_of(state_->params); }

Param Program::param(const std::string& name) const { return named(state_->params, name, "param"); }

}  // namespace distal
