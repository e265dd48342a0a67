#pragma once

#include <memory>

#include "program/program.h"

namespace distal::core {

// The Program at given values of its params, where its statements depend on these: each param on a right side is a
// literal, each shift a number, and a sum over no iterations is gone. The Program itself where nothing depends on them.
std::shared_ptr<const Program> with_values(std::shared_ptr<const Program> program, const Bindings& params);

// The statement with its params and shifts as numbers.
Statement with_values(const Statement& statement, const Bindings& params);

}  // namespace distal::core
