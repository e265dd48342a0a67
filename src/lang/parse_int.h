#pragma once

#include "lang/int_expr.h"
#include "lang/token_stream.h"

namespace distal::core {

// Parses `+ - * /`, ceildiv, min and max over numbers and params. A number beyond 64 bits is refused here.
IntExpr parse_int_expr(TokenStream& tokens);

// The same, where a constant has the place of its text too.
IntExpr parse_placed_int_expr(TokenStream& tokens);

// A plain number, refused when it has a point or does not fit in 64 bits.
int64_t integer_value(const Token& number);

}  // namespace distal::core
