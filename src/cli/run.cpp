#include <fmt/format.h>

#include "cli/found.h"
#include "cli/job.h"
#include "cli/legion_run.h"
#include "cli/mpi_start.h"
#include "data/npy_writer.h"

namespace distal::core {

Job run_job(const CliOptions& options, LoadedModule loaded) {
  auto saved = parse_files(options.save, "--save", loaded.module);
  FoundNotes notes = found_notes(options, loaded);
  return {std::move(loaded), std::move(saved), [options, notes](const PreparedRun& run) {
            RunReport report = run.report();
            report.found = notes;
            return report_text(report, options);
          }};
}

int run_command(const CliOptions& options, const RunOnMpi& run_on_mpi) {
  if (options.engine == "mpi") return run_on_mpi ? run_on_mpi(options) : start_on_mpi(options);
  if (options.engine == "threads") return run_on_threads(options, job_of(options, load_found(options)));
  if (options.engine != "legion") {
    throw Error(fmt::format("there is no engine {}; the engines are threads, mpi and legion", options.engine));
  }
  LoadedModule loaded = load_found(options);
  for (const auto& [tensor, file] : parse_files(options.save, "--save", loaded.module)) require_writable(file);
  return run_on_legion(options, loaded);
}

}  // namespace distal::core
