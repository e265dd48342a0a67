#pragma once

#include <CLI/CLI.hpp>

#include "support/error.h"

namespace distal::core {

// Throws an Error if the first word of the command line is no command and no option.
void require_known_command(const CLI::App& app, int argc, const char* const* argv);

// What is wrong with a command line that the parser refused, and what to write instead.
Error usage_error(const CLI::App& app, const CLI::ParseError& refused);

}  // namespace distal::core
