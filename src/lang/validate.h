#pragma once

#include "lang/module.h"

namespace distal::core {

// Checks what depends on the values of the params: sizes and grid extents of at least 1, faces inside the grid,
// block sizes, one extent per index variable (shape mismatch), literals that the element type can hold, element
// counts and bytes that fit in 64 bits.
void validate(const Module& module, const Bindings& params);

}  // namespace distal::core
