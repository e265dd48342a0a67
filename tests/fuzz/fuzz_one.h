#pragma once

#include <string>

namespace distal::core::fuzz {

// Takes any bytes as the text of a program. Parses, prints, validates and compiles it; also plans, verifies, counts and
// runs a small program, and compares its results with the reference. Returns what went wrong, or "" if the program
// passed or was refused by an Error.
std::string fuzz_one(const std::string& text);

}  // namespace distal::core::fuzz
