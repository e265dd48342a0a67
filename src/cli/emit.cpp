#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/found.h"
#include "cli/options.h"
#include "engine/legion/build.h"
#include "engine/legion/emit.h"
#include "lower/compile.h"
#include "support/cache.h"

namespace distal::core {

namespace fs = std::filesystem;

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Emitted files begin with the same line. Throws an Error if a file of another kind would be overwritten.
void require_own_files(const std::string& folder, const std::map<std::string, std::string>& files) {
  for (const auto& [name, text] : files) {
    fs::path path = fs::path(folder) / name;
    std::error_code failed;
    if (!fs::exists(path, failed) || first_line(read_text(path)) == first_line(text)) continue;
    throw Error(fmt::format("{} exists already, and `distal emit` did not write it", path.string()), {},
                "name another folder with -o, or move the file away");
  }
}

}  // namespace

int emit_command(const CliOptions& options) {
  if (options.target != "legion") {
    throw Error(fmt::format("there is no target {}; the only target is legion", options.target));
  }
  std::vector<LegionSource> sources;
  std::string found;
  for (const std::string& file : options.files) {
    CliOptions one = options;
    one.file = file;
    LoadedModule loaded = load_found(one);
    found += found_notes(one, loaded).text;
    std::string name = legion_name(fs::path(file).stem().string());
    auto is_taken = [&](const LegionSource& other) { return other.name == name; };
    if (std::any_of(sources.begin(), sources.end(), is_taken)) {
      throw Error(fmt::format("two programs would be written to {}.cpp", name), {}, "rename one of the files");
    }
    sources.push_back({std::move(name), compile(loaded.module)});
  }
  std::map<std::string, std::string> files = emit_legion(sources);
  require_own_files(options.output, files);
  write_files(options.output, files);
  fmt::print("{}", found);
  fmt::print(
      "wrote {0}/{1}.cpp and its build files; build it with\n  cmake -S {0} -B {0}/build -DLegion_DIR=... && "
      "cmake --build {0}/build\n",
      options.output, sources[0].name);
  return 0;
}

}  // namespace distal::core
