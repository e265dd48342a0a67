#pragma once

#include "lang/module.h"

namespace distal::core {

// The rules of the language, but for those that need the values of params, which are in validate.h. The parsers only
// read, and the C++ library only collects: what they make is checked here. Each function throws an Error at the first
// mistake, which names the line of a text or the call of a C++ program.

void check(const Module& module);
void check_declarations(const Module& module);  // all but the statements

// One item of a module. `scope` has what is declared before it.
void check_param(const Param& param, const Module& scope);
void check_machine(const Machine& machine, const Module& scope);
void check_tensor(const Tensor& tensor, const Module& scope);
void check_statement(const Statement& statement, const Module& scope);
void check_command(const Command& command, const Module& scope);

// A tensor without its name, which may be in use.
void check_format(const Tensor& tensor, const Module& scope);
// Requires a statement. `end` is the end of the program.
void check_not_empty(const Module& module, const SourceSpan& end);

}  // namespace distal::core
