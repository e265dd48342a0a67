#include <fmt/format.h>

#include <filesystem>

#include "cli/options.h"
#include "engine/legion/build.h"
#include "engine/legion/emit.h"
#include "engine/legion/program.h"

namespace distal::core {

namespace fs = std::filesystem;

int emit_command(const CliOptions& options) {
  if (options.target != "legion") {
    throw Error(fmt::format("there is no target {}; the only target is legion", options.target));
  }
  std::vector<LegionSource> sources;
  for (const std::string& file : options.files) {
    CliOptions one = options;
    one.file = file;
    sources.push_back({legion_name(fs::path(file).stem().string()), legion_program(load_module(one).module)});
  }
  write_files(options.output, emit_legion(sources));
  fmt::print(
      "wrote {0}/{1}.cpp and its build files; build it with\n  cmake -S {0} -B {0}/build -DLegion_DIR=... && "
      "cmake --build {0}/build\n",
      options.output, sources[0].name);
  return 0;
}

}  // namespace distal::core
