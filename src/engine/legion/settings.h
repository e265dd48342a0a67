#pragma once

#include <string>
#include <vector>

namespace distal::core {

// The Legion that programs are built with, and how they are started; tools/legion.sh says what each means.
struct LegionSettings {
  std::string origin;               // which one it is, in words
  std::string legion_dir;           // where its CMake package is
  std::vector<std::string> mpirun;  // empty: one process only
  std::vector<std::string> env, args, single_args, crowded_env, crowded_args;
};

// The user's own, of the environment's Legion_DIR, or else the one that was fetched into the build folder. An Error of
// kind Resources that says how to get one, if there is none.
LegionSettings find_legion();
LegionSettings find_legion(const std::string& settings_file);

// The settings of a file of KEY=VALUE lines.
LegionSettings read_legion_settings(const std::string& text);

}  // namespace distal::core
