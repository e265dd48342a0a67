#pragma once

#include <vector>

#include "lang/module.h"
#include "lang/token_stream.h"

namespace distal::core {

// Parses commands up to the first thing that is none: a declaration, a statement or the end of the file. Which
// variables and tensors exist is for schedule/ to say; the number and the form of the arguments is checked here.
std::vector<Command> parse_schedule(TokenStream& tokens, const Module& module);

}  // namespace distal::core
