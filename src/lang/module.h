#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lang/command.h"
#include "lang/distribution.h"
#include "lang/element_type.h"
#include "lang/index_notation.h"
#include "lang/machine.h"

namespace distal::core {

struct Param {
  std::string name;
  IntExpr value;  // the default; may use the params before it
  SourceSpan span;
  bool operator==(const Param&) const = default;
};

// A tensor and its format: its size, where its pieces live and how each piece is stored.
struct Tensor {
  std::string name;
  std::vector<IntExpr> dimensions;           // empty for a scalar
  std::optional<Machine> machine;            // a declared one by value, or one written in place
  std::optional<Distribution> distribution;  // none: the tensor lives on processor (0, ..., 0)
  std::vector<int> order;                    // storage order, outermost first; always a permutation of the dimensions
  Memory memory = Memory::CPU_MEM;
  SourceSpan span;
  SourceSpan order_span{};
  bool operator==(const Tensor&) const = default;
};

struct ScheduledStatement {
  Statement statement;
  std::vector<Command> schedule;
  std::optional<Statement> origin;  // the statement as written that this is a part of
  bool counts = true;               // whether that statement's work is counted here, and not at another part of it
  bool has_empty_schedule = false;  // the word `schedule` stands there, and no command behind it
  bool operator==(const ScheduledStatement&) const = default;
};

// What the user said, whole: a value that prints as a .distal file and parses back to itself.
struct Module {
  std::vector<Param> params;
  std::vector<Machine> machines;
  std::vector<Tensor> tensors;
  std::vector<ScheduledStatement> statements;
  ElementType type = ElementType::Double;
  bool operator==(const Module&) const = default;

  const Tensor* find_tensor(const std::string& name) const;
  const Machine* find_machine(const std::string& name) const;
};

// Whether the format of a tensor on a machine was left out, to be found. Until then it lies on the first processor.
bool has_free_format(const Tensor& tensor);

std::string to_string(const Module& module);
// What stands behind the colon of a tensor's declaration; empty for a tensor that has no format of its own.
std::string format_text(const Tensor& tensor);

// The values of all params: the defaults, with `overrides` in their place. An override of an unknown param is
// refused with the params that there are.
Bindings bind(const Module& module, const Bindings& overrides);

}  // namespace distal::core
