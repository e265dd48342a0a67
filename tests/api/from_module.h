#pragma once

#include <distal/distal.h>

#include <map>
#include <string>
#include <vector>

#include "lang/module.h"

namespace distal {

// Builds a parsed program again with the objects of the public API.
class FromModule {
 public:
  explicit FromModule(const core::Module& module);

  // Defines and schedules the output of statement s as the module does, and returns it.
  TensorHandle define(size_t s);
  TensorHandle& tensor(const std::string& name) { return tensors_.at(name); }

 private:
  IndexVar variable(const core::IndexVar& v) const;
  std::vector<IndexVar> variables(const std::vector<core::IndexVar>& all) const;
  Int number(const core::IntExpr& e) const;
  std::vector<Int> numbers(const std::vector<core::IntExpr>& all) const;
  Grid grid(const core::Grid& g) const;
  Machine machine(const core::Machine& m) const;
  Machine made_of(const core::Machine& m) const;
  Role role(const core::LevelDistribution& level, size_t dimension) const;
  std::vector<Role> roles(const core::LevelDistribution& level) const;
  Distribution distribution(const core::Tensor& t) const;
  TensorHandle handle(const core::Tensor& t) const;
  Expr expression(const core::Expr& e) const;
  Access access(const core::Access& a) const;
  Onto onto(const core::GridRef& ref) const;
  void add_command(Schedule& schedule, const core::Command& command) const;

  const core::Module& module_;
  std::map<std::string, Param> params_;
  std::map<std::string, Machine> machines_;
  std::map<std::string, TensorHandle> tensors_;
  mutable std::map<std::string, IndexVar> variables_;  // made when they are first used
};

}  // namespace distal
