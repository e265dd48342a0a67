#pragma once

#include <map>
#include <string>

namespace distal::core {

// By file name: the text of the headers that all emitted programs share, those in support/ and random.h.
const std::map<std::string, std::string>& legion_support_files();

}  // namespace distal::core
