#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/prepared_run.h"

namespace distal::core {

namespace {

std::string summary(const PreparedRun& run) {
  std::string out;
  for (const StagePlan& s : run.plan().stages) out += fmt::format("{}\n", to_string(s.stage->source.statement));
  return out + run.ran_text() + run.moved_text() + run.memory_text() + run.time_text() + run.speed_text() +
         run.check_text();
}

}  // namespace

int run_command(const CliOptions& options) {
  if (options.engine != "threads") {
    throw Error(fmt::format("there is no engine {}; the engines are threads", options.engine));
  }
  LoadedModule loaded = load_module(options);
  require_host(loaded.module);
  // A wrong name is said before the work, not after it.
  std::map<std::string, std::string> saved = parse_files(options.save, "--save", loaded.module);
  for (const auto& [tensor, file] : saved) require_writable(file);
  PreparedRun prepared(options, loaded);
  prepared.run_all();
  for (const auto& [tensor, file] : saved) prepared.save(tensor, file);
  if (options.json) {
    std::cout << prepared.json().dump() << std::endl;
  } else {
    fmt::print("{}", summary(prepared));
  }
  return prepared.ok() ? 0 : 1;
}

}  // namespace distal::core
