#include "lang/module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "lang/suggest.h"

namespace distal::core {

namespace {

template <class Item>
const Item* find_named(const std::vector<Item>& items, const std::string& name) {
  auto it = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return it == items.end() ? nullptr : &*it;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::string params_text(const std::vector<Param>& params) {
  std::vector<std::string> parts;
  for (const Param& p : params) parts.push_back(fmt::format("{} = {}", p.name, p.value.to_string()));
  return parts.empty() ? "" : fmt::format("param {}\n", joined(parts));
}

bool is_identity(const std::vector<int>& order) {
  std::vector<int> identity(order.size());
  std::iota(identity.begin(), identity.end(), 0);
  return order == identity;
}

std::string tensor_text(const Tensor& tensor) {
  std::string out = "tensor " + tensor.name;
  std::vector<std::string> dimensions;
  for (const IntExpr& dimension : tensor.dimensions) dimensions.push_back(dimension.to_string());
  if (!dimensions.empty()) out += fmt::format("({})", joined(dimensions));
  std::string format = format_text(tensor);
  if (!format.empty()) out += (tensor.distribution ? " : " : " ") + format;
  return out + "\n";
}

std::string statement_text(const ScheduledStatement& scheduled) {
  std::string out = "\n" + to_string(scheduled.statement) + "\n";
  if (!scheduled.schedule.empty() || scheduled.has_empty_schedule) out += "\nschedule\n";
  for (const Command& command : scheduled.schedule) out += "  " + to_string(command) + "\n";
  return out;
}

}  // namespace

std::string format_text(const Tensor& tensor) {
  std::vector<std::string> parts, order;
  if (tensor.distribution) parts.push_back(to_string(*tensor.distribution));
  if (tensor.machine)
    parts.push_back("on " + (tensor.machine->name.empty() ? to_string(*tensor.machine) : tensor.machine->name));
  for (int d : tensor.order) order.push_back(std::to_string(d));
  if (!is_identity(tensor.order)) parts.push_back(fmt::format("order({})", joined(order)));
  if (tensor.memory != Memory::CPU_MEM) parts.push_back("in " + to_string(tensor.memory));
  return fmt::format("{}", fmt::join(parts, " "));
}

bool has_free_format(const Tensor& tensor) { return tensor.machine && !tensor.distribution; }

const Tensor* Module::find_tensor(const std::string& name) const { return find_named(tensors, name); }

const Machine* Module::find_machine(const std::string& name) const { return find_named(machines, name); }

std::string to_string(const Module& module) {
  std::string out = params_text(module.params);
  for (const Machine& machine : module.machines)
    out += fmt::format("machine {} = {}\n", machine.name, to_string(machine));
  if (module.type != ElementType::Double) out += fmt::format("type {}\n", to_string(module.type));
  if (!out.empty() && !module.tensors.empty()) out += "\n";
  for (const Tensor& tensor : module.tensors) out += tensor_text(tensor);
  for (const ScheduledStatement& scheduled : module.statements) out += statement_text(scheduled);
  return out;
}

Bindings bind(const Module& module, const Bindings& overrides) {
  std::vector<std::string> known;
  for (const Param& p : module.params) known.push_back(p.name);
  for (const auto& [name, value] : overrides) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string help = known.empty() ? "the program has no params" : "the params are " + listing(known);
    throw Error(fmt::format("cannot set `{}` to {}: there is no such param", name, value), {},
                help + did_you_mean(name, known));
  }
  Bindings values;
  for (const Param& p : module.params) {
    auto set = overrides.find(p.name);
    values[p.name] = set == overrides.end() ? p.value.evaluate(values) : set->second;
  }
  return values;
}

}  // namespace distal::core
