#pragma once

#include <functional>
#include <map>
#include <string>

#include "cli/options.h"
#include "cli/prepared_run.h"

namespace distal::core {

// What `run` or `redistribute` does, on any engine: a program, the files that its results go to, and what is printed.
struct Job {
  LoadedModule loaded;
  std::map<std::string, std::string> saved;                // files, by tensor of the program
  std::function<std::string(const PreparedRun&)> results;  // the text for stdout
};

// The job of the command line, for its program, which leaves nothing out any more. Throws an Error if the options do
// not fit the program or the engine.
Job job_of(const CliOptions& options, LoadedModule loaded);

// The two kinds of job.
Job run_job(const CliOptions& options, LoadedModule loaded);
Job redistribute_job(const CliOptions& options, LoadedModule loaded);

// Runs a job on the threads of this process. Returns the exit status.
int run_on_threads(const CliOptions& options, const Job& job);

}  // namespace distal::core
