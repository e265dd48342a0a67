#pragma once

#include <map>
#include <string>

namespace distal::core {

// The texts of the headers in leaf/support, by name.
const std::map<std::string, std::string>& leaf_support_files();

// A header of leaf/support as a part of generated code: with the headers that it includes in place of the includes.
std::string leaf_support_text(const std::string& name);

}  // namespace distal::core
