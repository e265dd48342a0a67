#pragma once

#include <string>

#include "lang/module.h"

namespace distal::core {

// Parses the text of a .distal file. What needs no parameter value is checked here: names, arities, the validity
// rules of tensor distribution notation. Throws Error at the first mistake.
Module parse_module(const std::string& text, const std::string& source_name);

// Reads and parses a file; an unreadable file is an Error.
Module parse_file(const std::string& path);

}  // namespace distal::core
