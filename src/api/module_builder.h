#pragma once

#include <memory>
#include <vector>

#include "api/state.h"
#include "lang/module.h"

namespace distal {

// The program that the handles describe, as the value that the same program in a .distal file parses to.
struct BuiltModule {
  core::Module module;
  std::vector<std::shared_ptr<Param::State>> params;  // in the order of module.params
  std::vector<std::shared_ptr<TensorState>> tensors;  // in the order of module.tensors
};

BuiltModule build_module(const std::vector<std::shared_ptr<TensorState>>& defined);

// Every number that the size and the format of a tensor depend on.
std::vector<Int> numbers_of(const TensorState& tensor);

// The current values of the params in some numbers. Two params of one name are refused.
core::Bindings values_of(const std::vector<std::shared_ptr<Param::State>>& params);

}  // namespace distal
