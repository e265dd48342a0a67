#pragma once

#include <string>

#include "lang/module.h"
#include "tune/candidate.h"

namespace distal::core {

// Why no schedule can be found for a statement; empty if one can. A statement is searched for if each of its tensors is
// accessed with one list of indices and no access repeats an index.
std::string cannot_search(const Statement& statement);

// The shape of a statement at given params. Requires that it can be searched for.
StatementShape shape_of(const Module& module, const Statement& statement, const Bindings& params);

}  // namespace distal::core
