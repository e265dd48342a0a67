#pragma once

#include <map>
#include <string>

#include "engine/legion/settings.h"

namespace distal::core {

// Writes an emitted program's files into a folder.
void write_files(const std::string& folder, const std::map<std::string, std::string>& files);

// Builds an emitted program by its own CMakeLists.txt, or takes it from the cache. Returns the path of the executable.
// `name` is the executable's name in the CMakeLists.txt.
std::string build_legion(const std::map<std::string, std::string>& files, const std::string& name,
                         const LegionSettings& settings);

}  // namespace distal::core
