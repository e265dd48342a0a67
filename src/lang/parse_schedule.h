#pragma once

#include "lang/module.h"
#include "lang/token_stream.h"

namespace distal::core {

// Whether a command stands here, and not a declaration, a statement or the end of the file.
bool at_command(const TokenStream& tokens, const Module& module);

// Parses a command; `before` has those that stand before it in the schedule. The number and the form of its arguments
// must be those of a signature.
Command parse_command(TokenStream& tokens, const Module& module, const std::vector<Command>& before);

}  // namespace distal::core
