#pragma once

#include <map>
#include <string>

namespace distal::core {

// What all emitted programs share, by the name of the file: the headers in support/, and random.h.
const std::map<std::string, std::string>& legion_support_files();

}  // namespace distal::core
