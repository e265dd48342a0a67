#pragma once

#include <nlohmann/json.hpp>

#include "cli/options.h"
#include "cli/run_report.h"

namespace distal::core {

// Finds what the program leaves out, with the options of the command line. If there are several processes, the first
// one searches and sends the text of the program to the others, which then have no costs and reasons.
void find_left_out(const CliOptions& options, LoadedModule& loaded, const ProcessGroup& group = ProcessGroup());

// What `optimize --json` prints of a statement.
nlohmann::ordered_json to_json(const LoadedModule& loaded, const FoundStatement& found);

// The fields of `run --json` and `explain --json`: what was found, in short.
nlohmann::ordered_json found_json(const LoadedModule& loaded);

// The same for a report of a run. Empty for a program that leaves nothing out.
FoundNotes found_notes(const CliOptions& options, const LoadedModule& loaded);

}  // namespace distal::core
