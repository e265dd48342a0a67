#pragma once

#include <string>
#include <vector>

#include "distal/format.h"
#include "lang/module.h"

namespace distal {

// The compiler's values as those of the library, with the params that they name.
Int to_public(const core::IntExpr& expr, const std::vector<Param>& params);
std::vector<Grid> to_public(const std::vector<core::Grid>& levels, const std::vector<Param>& params);
// The format of a tensor whose distribution, if it has one, is on `machine`.
Format to_public(const core::Tensor& tensor, const Machine& machine, const std::vector<Param>& params);

}  // namespace distal
