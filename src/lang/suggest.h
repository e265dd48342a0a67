#pragma once

#include <string>
#include <vector>

namespace distal::core {

// "a, b and c", each in backticks; "none" for an empty list.
std::string listing(const std::vector<std::string>& names);

// "; did you mean `split`?" when one of the names is a likely slip away from the word, else nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

}  // namespace distal::core
