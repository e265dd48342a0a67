#pragma once

#include <functional>
#include <string>

namespace distal::core::property {

// Whether a smaller program still fails in the same way.
using StillFails = std::function<bool(const std::string& text)>;

// Makes a failing program smaller for as long as it still fails: fewer statements, commands, terms, distributions,
// machine dimensions and levels, smaller numbers.
std::string shrink(const std::string& text, const StillFails& still_fails);

}  // namespace distal::core::property
