#pragma once

#include <map>
#include <string>

namespace distal::core {

// The text of the headers that all emitted programs share: those in support/ by their names, and the others, which are
// headers of the compiler too, by their paths in src.
const std::map<std::string, std::string>& legion_support_files();

}  // namespace distal::core
