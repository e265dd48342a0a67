#pragma once

#include "lang/module.h"
#include "lang/token_stream.h"

namespace distal::core {

// Parses `A(i, j) = e` or `A(i, j) += e` and checks it against the tensors that the module has so far: they exist,
// have as many indices as dimensions, share a machine, and the right side gives every index of the output.
Statement parse_statement(TokenStream& tokens, const Module& module);

// Parses a part of a right side, as precompute names it. It may also name workspaces, which the module does not know.
Expr parse_expression(TokenStream& tokens, const Module& module);

}  // namespace distal::core
