#pragma once

#include "lang/module.h"
#include "lang/token_stream.h"

namespace distal::core {

// Parses what follows the word `tensor`: NAME(dims) : distribution, and the clauses `on`, `order` and `in` in any
// order. `module` has what is declared before.
Tensor parse_tensor(TokenStream& tokens, const Module& module);

// The tensor in another format: parses what may stand behind the colon of its declaration, to the end of the text.
Tensor parse_format(TokenStream& tokens, const Module& module, const Tensor& tensor);

}  // namespace distal::core
