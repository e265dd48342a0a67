#pragma once

#include <nlohmann/json.hpp>

#include "cli/options.h"
#include "tune/find.h"

namespace distal::core {

// What the search finds for what a program leaves out, with the options of the command line.
FoundProgram find_left_out(const CliOptions& options, const LoadedModule& loaded);

// What `optimize --json` prints of a statement.
nlohmann::ordered_json to_json(const FoundStatement& found);

}  // namespace distal::core
