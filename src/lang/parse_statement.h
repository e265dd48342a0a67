#pragma once

#include "lang/module.h"
#include "lang/token_stream.h"

namespace distal::core {

// Parses `A(i, j) = e` or `A(i, j) += e`. `module` has what was declared before: it helps to say what is wrong.
Statement parse_statement(TokenStream& tokens, const Module& module);

// Parses `A(i, j)`.
Access parse_access(TokenStream& tokens, const Module& module);

// Parses a right side, or a part of one.
Expr parse_expression(TokenStream& tokens, const Module& module);

}  // namespace distal::core
