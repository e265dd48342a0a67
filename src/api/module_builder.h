#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/state.h"
#include "lang/module.h"

namespace distal {

// A tensor and the statement that defines it. The statement is a copy: the user may give the tensor another one.
struct DefinedTensor {
  std::shared_ptr<TensorState> tensor;
  Definition definition;
};

// The program that the handles describe, checked. It prints as a .distal file.
struct BuiltModule {
  std::vector<DefinedTensor> defined;  // what it was built from
  core::Module module;
  std::map<std::string, std::string> names;           // in the module, by the keys of the handles
  std::vector<Machine> machines;                      // in the order of module.machines
  std::vector<std::shared_ptr<Param::State>> params;  // in the order of module.params
  // In the order of module.tensors, and then the copies of outputs that the compiler adds.
  std::vector<std::shared_ptr<TensorState>> tensors;
  std::vector<int64_t> times_redistributed;  // by tensor, when the module was built
};

// Refuses two variables with the same name in one statement, and two params, machines or tensors with the same name.
// Machines of Processors that differ only in their grids may have the same name: the machine that a schedule or a free
// format needs is declared, and the others are written in place.
BuiltModule build_module(std::vector<DefinedTensor> defined);

// A tensor that obeys the rules of formats, for the current values of its params.
struct CheckedTensor {
  core::Tensor tensor;
  core::Bindings params;
};
CheckedTensor check_tensor(const TensorState& tensor);

// Whether one of its tensors was redistributed after the module was built.
bool is_stale(const BuiltModule& built);

// The statement that defines a tensor. Throws an Error if there is none.
DefinedTensor defined(const std::shared_ptr<TensorState>& tensor);
// The statements that define several tensors. Throws an Error if the list is empty.
std::vector<DefinedTensor> all_defined(const std::vector<TensorHandle>& tensors);
// The statement that gives `to` the elements of `from`, run where `to` lives.
DefinedTensor defined_as_copy(const std::shared_ptr<TensorState>& to, const std::shared_ptr<TensorState>& from);

// Every number that the size and the format of a tensor depend on.
std::vector<Int> numbers_of(const TensorState& tensor);
// Every number of a machine.
std::vector<Int> numbers_of(const Machine& machine);

// The current values of the params of a module.
core::Bindings values_of(const core::Module& module, const std::vector<std::shared_ptr<Param::State>>& params);

}  // namespace distal
