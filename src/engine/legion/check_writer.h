#pragma once

#include "engine/legion/statement_writer.h"

namespace distal::core {

// The tensors on the right side, each once, in the order of their first occurrence.
std::vector<std::string> tensors_read(const Statement& statement);

// Writes the function that compares a statement's output with its definition, element by element.
void write_check(const Module& module, const Stage& stage, const StatementNames& statement, const CppNames& names,
                 TextWriter& writer);

}  // namespace distal::core
