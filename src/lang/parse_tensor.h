#pragma once

#include "lang/module.h"
#include "lang/token_stream.h"

namespace distal::core {

// Parses what follows the word `tensor`: NAME(dims) : distribution, and the clauses `on`, `order` and `in` in any
// order. Whether the name is free is checked by the caller.
Tensor parse_tensor(TokenStream& tokens, const Module& module);

}  // namespace distal::core
