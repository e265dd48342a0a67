#include "engine/legion/settings.h"

#include <fmt/format.h>

#include <sstream>

#include "support/cache.h"
#include "support/environment.h"
#include "support/error.h"
#include "support/process.h"

namespace distal::core {

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

}  // namespace

LegionSettings read_legion_settings(const std::string& text) {
  LegionSettings out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    std::string key = line.substr(0, equals), value = line.substr(equals + 1);
    if (key == "origin") out.origin = value;
    if (key == "legion_dir") out.legion_dir = value;
    if (key == "mpirun") out.mpirun = words_of(value);
    if (key == "env") out.env = words_of(value);
    if (key == "args") out.args = words_of(value);
    if (key == "single_args") out.single_args = words_of(value);
    if (key == "crowded_env") out.crowded_env = words_of(value);
    if (key == "crowded_args") out.crowded_args = words_of(value);
  }
  return out;
}

LegionSettings find_legion() { return find_legion(DISTAL_LEGION_SETTINGS); }

LegionSettings find_legion(const std::string& settings_file) {
  LegionSettings found = read_legion_settings(read_text(settings_file));
  std::string own = environment("Legion_DIR");
  if (!own.empty() && own != found.legion_dir) {
    found = {"Legion_DIR", own, {}, {}, {}, {}, {}, {}};
    if (std::string mpirun = on_path("mpirun"); !mpirun.empty()) found.mpirun = {mpirun};
  }
  if (!found.legion_dir.empty()) return found;
  throw Error(
      "Legion was not found", {},
      "run ./distal from the sources with --engine legion, which fetches it, or set Legion_DIR to the folder of "
      "a LegionConfig.cmake",
      Error::Kind::Resources);
}

}  // namespace distal::core
