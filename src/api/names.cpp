#include "api/names.h"

#include <fmt/format.h>

#include "api/module_parts.h"

namespace distal {

namespace {

void for_each_part_of_all(core::Module& module, const auto& f) {
  for_each_part(module.machines, f);
  for_each_part(module.tensors, f);
  for (core::ScheduledStatement& scheduled : module.statements) {
    for_each_part(scheduled.statement, f);
    for_each_part(scheduled.schedule, f);
  }
}

}  // namespace

void Names::add(const std::string& key, const std::string& name, char prefix) {
  if (keys_.insert(key).second) handles_.push_back({key, name, prefix});
}

// Some names stand in the module already: those of workspaces, and of the variables of a copy.
std::map<std::string, std::string> Names::by_key(const core::Module& module) const {
  std::set<std::string> used;
  core::Module copy = module;
  for_each_part_of_all(copy, core::Overloaded{[&](core::IndexVar& v) { used.insert(v.name); },
                                              [&](core::Name& n) { used.insert(n.text); }, [](auto&) {}});
  for (const Handle& h : handles_) used.insert(h.name);
  std::map<std::string, std::string> out;
  std::map<char, int> last;
  for (const Handle& h : handles_) {
    std::string name = h.name;
    while (name.empty() || (h.name.empty() && used.count(name) > 0)) name = h.prefix + std::to_string(++last[h.prefix]);
    out.emplace(h.key, name);
  }
  return out;
}

std::map<std::string, std::string> Names::apply(core::Module& module) const {
  std::map<std::string, std::string> names = by_key(module);
  std::map<std::string, core::IntExpr> params;
  for (const auto& [key, name] : names) params.emplace(key, core::IntExpr::name(name));
  auto rename = [&](std::string& name) {
    auto found = names.find(name);
    if (found != names.end()) name = found->second;
  };
  for (core::Param& p : module.params) rename(p.name);
  for (core::Machine& m : module.machines) rename(m.name);
  for (core::Tensor& t : module.tensors) rename(t.name);
  for_each_part_of_all(
      module,
      core::Overloaded{rename, [&](core::IndexVar& v) { rename(v.name); }, [&](core::Name& n) { rename(n.text); },
                       [&](core::IntExpr& e) { e = e.substitute(params); }, [](core::SourceSpan&) {}});
  return names;
}

}  // namespace distal
