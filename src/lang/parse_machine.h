#pragma once

#include "lang/module.h"
#include "lang/token_stream.h"

namespace distal::core {

// Whether a grid written in place stands here: `Grid` is no reserved word, its parenthesis makes it one.
bool at_grid(const TokenStream& tokens);

// Parses `Grid(gx, gy)` with the kind of its processors after it, if that is given.
Grid parse_grid(TokenStream& tokens);

// Whether a machine written in place stands here: a grid, or a number of processors.
bool at_machine(const TokenStream& tokens);

// Parses `Grid(...) of Grid(...) ...`, or `64 processors as Grid(...)` with a kind behind it; the machine has no name.
Machine parse_machine(TokenStream& tokens);

}  // namespace distal::core
