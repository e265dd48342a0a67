#pragma once

#include <string>
#include <vector>

namespace distal::core {

// The Legion that programs are built with, and how to start them. tools/legion.sh documents each setting.
struct LegionSettings {
  std::string origin;               // which Legion it is
  std::string legion_dir;           // the folder of its CMake package
  std::vector<std::string> mpirun;  // empty: one process only
  std::vector<std::string> env, args, single_args, crowded_env, crowded_args;
};

// The Legion of the environment variable Legion_DIR, or else the one fetched into the build folder. Throws an Error of
// kind Resources, which says how to get Legion, if there is none.
LegionSettings find_legion();
LegionSettings find_legion(const std::string& settings_file);

// Parses a settings file's text: KEY=VALUE lines.
LegionSettings read_legion_settings(const std::string& text);

}  // namespace distal::core
