#pragma once

#include "ir/concrete.h"
#include "lang/module.h"

namespace distal::core {

// The statement of concrete index notation that places a tensor as its distribution says: every processor touches
// exactly what it owns. Follows the five steps of the paper's "Lowering Tensor Distribution Notation", level by level.
Stmt placement_of(const Tensor& tensor);

}  // namespace distal::core
