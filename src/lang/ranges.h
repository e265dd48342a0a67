#pragma once

#include <map>

#include "lang/module.h"

namespace distal::core {

// The extent of each index of a statement. It is that of the dimensions that the index stands in without a shift, else
// the smallest that the shifts leave of a dimension. Needs no params: it is an expression.
std::map<std::string, IntExpr> variable_extents(const Module& module, const Statement& statement);

// Throws an Error if, at the given params, an index has two extents or an access leaves its tensor.
void check_ranges(const Module& module, const Statement& statement, const Bindings& params);

}  // namespace distal::core
