#pragma once

#include "engine/legion/statement_writer.h"

namespace distal::core {

// Writes the functions that compare elements of a statement's output with their definition: what they need, and what
// they do in a box of iterations.
void write_check(const Module& module, const Stage& stage, const StatementNames& statement, const CppNames& names,
                 TextWriter& writer);

}  // namespace distal::core
