#pragma once

#include <map>
#include <string>
#include <vector>

#include "lang/module.h"

namespace distal::core {

// The extent of each index of a statement. It is that of the dimensions that the index stands in without a shift, else
// the smallest that the shifts leave of a dimension. Needs no params: it is an expression.
std::map<std::string, IntExpr> variable_extents(const Module& module, const Statement& statement);

// The indices that have no values at the given params. What is summed over one of them is 0.
std::vector<std::string> empty_indices(const Module& module, const Statement& statement, const Bindings& params);

// Throws an Error if, at the given params, an index has two extents or an access leaves its tensor.
void check_ranges(const Module& module, const Statement& statement, const Bindings& params);

}  // namespace distal::core
