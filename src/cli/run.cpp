#include <fmt/format.h>

#include "cli/legion_run.h"
#include "cli/mpi_start.h"
#include "cli/prepared_run.h"
#include "data/npy_writer.h"

namespace distal::core {

namespace {

int run_on_threads(const CliOptions& options, const LoadedModule& loaded) {
  require_single_process();
  if (options.ranks > 1) {
    throw Error("--ranks: the threads engine runs in one process; use --engine mpi or legion for several");
  }
  std::map<std::string, std::string> saved = parse_files(options.save, "--save", loaded.module);
  PreparedRun prepared(options, loaded);
  prepared.run_all();
  for (const auto& [tensor, file] : saved) prepared.save(tensor, file);
  print_report(prepared.report(), options.json);
  return prepared.ok() ? 0 : 1;
}

}  // namespace

int run_command(const CliOptions& options, const RunOnMpi& run_on_mpi) {
  if (options.engine != "threads" && options.engine != "mpi" && options.engine != "legion") {
    throw Error(fmt::format("there is no engine {}; the engines are threads, mpi and legion", options.engine));
  }
  if (options.engine == "mpi") return run_on_mpi ? run_on_mpi(options) : start_on_mpi(options);
  LoadedModule loaded = load_module(options);
  // Report an unwritable file before the run, not after it.
  for (const auto& [tensor, file] : parse_files(options.save, "--save", loaded.module)) require_writable(file);
  return options.engine == "legion" ? run_on_legion(options, loaded) : run_on_threads(options, loaded);
}

}  // namespace distal::core
