#pragma once

#include <string>

#include "lang/module.h"
#include "tune/candidate.h"

namespace distal::core {

// Why no schedule can be found for a statement; empty if one can. The search needs statements that access each tensor
// with one list of indices only, and in which no access repeats an index.
std::string cannot_search(const Statement& statement);

// The shape of a statement at given params. Requires that cannot_search returns nothing.
StatementShape shape_of(const Module& module, const Statement& statement, const Bindings& params);

}  // namespace distal::core
