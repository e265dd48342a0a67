#pragma once

#include "lang/module.h"
#include "lang/token_stream.h"

namespace distal::core {

// Parses `A(i, j) = e`, or with `+=` or `-=`. `module` has what was declared before: it tells tensors from params, and
// helps to say what is wrong.
Statement parse_statement(TokenStream& tokens, const Module& module);

// Parses `A(i, j)`.
Access parse_access(TokenStream& tokens, const Module& module);

// Parses a right side, or a part of one. A name without indices is a param unless a tensor, or one of `workspaces`, has
// it.
Expr parse_expression(TokenStream& tokens, const Module& module, std::vector<std::string> workspaces);

}  // namespace distal::core
