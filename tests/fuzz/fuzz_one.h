#pragma once

#include <string>

namespace distal::core::fuzz {

// Takes any bytes for the text of a program and follows them as far as they lead: parse, print, validate, compile,
// plan, and, where the program is small enough to end soon, verify, count, run and compare with the reference.
// Returns "" if all was well, which it is for a program that is refused by an Error too; else what happened.
std::string fuzz_one(const std::string& text);

}  // namespace distal::core::fuzz
