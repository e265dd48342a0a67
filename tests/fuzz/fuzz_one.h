#pragma once

#include <string>

namespace distal::core::fuzz {

// Takes any bytes as the text of a program through the stages: parse, print, validate and compile; for a small program
// also plan, verify, count, run and compare with the reference. Returns "" if nothing is wrong, also for a program that
// is refused by an Error; otherwise what went wrong.
std::string fuzz_one(const std::string& text);

}  // namespace distal::core::fuzz
