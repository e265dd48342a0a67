#pragma once

#include "cli/options.h"
#include "cli/run_report.h"

namespace distal::core {

// Emits a Legion program, builds it, runs it and checks its results. Returns the exit status.
int run_on_legion(const CliOptions& options, const LoadedModule& loaded);

}  // namespace distal::core
