#include <fmt/format.h>

#include "cli/legion_run.h"
#include "cli/prepared_run.h"

namespace distal::core {

namespace {

int run_on_threads(const CliOptions& options, const LoadedModule& loaded) {
  require_host(loaded.module);
  if (options.ranks != 1) throw Error("--ranks: the threads engine is one process; --engine legion has several");
  std::map<std::string, std::string> saved = parse_files(options.save, "--save", loaded.module);
  PreparedRun prepared(options, loaded);
  prepared.run_all();
  for (const auto& [tensor, file] : saved) prepared.save(tensor, file);
  print_report(prepared.report(), options.json);
  return prepared.ok() ? 0 : 1;
}

}  // namespace

int run_command(const CliOptions& options) {
  if (options.engine != "threads" && options.engine != "legion") {
    throw Error(fmt::format("there is no engine {}; the engines are threads and legion", options.engine));
  }
  LoadedModule loaded = load_module(options);
  // A wrong name is said before the work, not after it.
  for (const auto& [tensor, file] : parse_files(options.save, "--save", loaded.module)) require_writable(file);
  return options.engine == "legion" ? run_on_legion(options, loaded) : run_on_threads(options, loaded);
}

}  // namespace distal::core
