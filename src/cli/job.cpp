#include "cli/job.h"

#include <fmt/format.h>

#include "cli/mpi_start.h"
#include "data/npy_writer.h"

namespace distal::core {

Job job_of(const CliOptions& options, LoadedModule loaded) {
  Job job = options.command == "redistribute" ? redistribute_job(options, std::move(loaded))
                                              : run_job(options, std::move(loaded));
  require_options(options, job.loaded.module);
  return job;
}

int run_on_threads(const CliOptions& options, const Job& job) {
  require_single_process();
  if (options.ranks > 1) {
    throw Error("--ranks: the threads engine runs in one process; use --engine mpi or legion for several");
  }
  // Report an unwritable file before the run, not after it.
  for (const auto& [tensor, file] : job.saved) require_writable(file);
  PreparedRun prepared(options, job.loaded);
  prepared.run_all();
  for (const auto& [tensor, file] : job.saved) prepared.save(tensor, file);
  show_text(options, job.results(prepared));
  return prepared.ok() ? 0 : 1;
}

}  // namespace distal::core
