#pragma once

#include <string>
#include <utility>
#include <vector>

#include "distal/format.h"
#include "lang/module.h"

namespace distal {

// The params of a program, by their names in it.
using NamedParams = std::vector<std::pair<std::string, Param>>;
// Params that have these names themselves.
NamedParams named(const std::vector<Param>& params);

// The compiler's values as those of the library, with the params that they name.
Int to_public(const core::IntExpr& expr, const NamedParams& params);
std::vector<Grid> to_public(const std::vector<core::Grid>& levels, const NamedParams& params);
// With another name.
Machine to_public(const core::Machine& machine, const NamedParams& params, const std::string& name);
// The format of a tensor whose distribution, if it has one, is on `machine`. A tensor on a machine without one lies on
// its first processor.
Format to_public(const core::Tensor& tensor, const Machine& machine, const NamedParams& params);

}  // namespace distal
