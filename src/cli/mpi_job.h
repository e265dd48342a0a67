#pragma once

#include <string>
#include <vector>

namespace distal::core {

// Runs a launcher such as mpirun and waits for it. Shows the progress that the first rank reports, unless `quiet`.
// Ctrl-C and SIGTERM end the ranks within three seconds. Returns the launcher's exit status.
int run_mpi_job(const std::vector<std::string>& command, bool quiet);

// The file to which the first rank of a job writes its progress; empty if no process reads it.
std::string job_progress_file();

}  // namespace distal::core
