#pragma once

#include "lang/module.h"
#include "lang/token_stream.h"

namespace distal::core {

// An integer expression with the place of its text, which a constant does not keep itself.
struct PlacedInt {
  IntExpr value;
  SourceSpan span;
};

// Parses `+ - * /`, ceildiv, min and max over numbers and the params that the module has so far. An unknown param,
// a number beyond 64 bits and a division by a constant below 1 are refused here.
PlacedInt parse_int_expr(TokenStream& tokens, const Module& module);

// The same for a value that must be at least 1; `what` names it in the error when a constant is not.
IntExpr parse_positive_int_expr(TokenStream& tokens, const Module& module, const std::string& what);

// A plain number, refused when it has a point or does not fit in 64 bits.
int64_t integer_value(const Token& number);

}  // namespace distal::core
