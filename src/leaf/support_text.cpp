#include "leaf/support_text.h"

#include <sstream>

namespace distal::core {

std::string leaf_support_text(const std::string& name) {
  const std::string include = "#include \"leaf/support/";
  std::istringstream lines(leaf_support_files().at(name));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line == "#pragma once") continue;
    out += line.starts_with(include) ? leaf_support_text(line.substr(include.size(), line.size() - include.size() - 1))
                                     : line + "\n";
  }
  return out;
}

}  // namespace distal::core
