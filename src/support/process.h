#pragma once

#include <string>
#include <vector>

namespace distal::core {

// The full path of an executable, searched for in $PATH; empty if there is none. A name with a / is not searched for.
std::string on_path(const std::string& program);

struct ProcessOptions {
  std::vector<std::string> environment;  // NAME=VALUE, added to the environment of this process
  std::string output;                    // a file for stdout and stderr; empty: those of this process
  std::string standard_output;           // a file for stdout alone
};

// Runs a program by its path and waits for it. Returns its exit status, or -1 if it could not start or was killed.
int run_process(const std::vector<std::string>& command, const ProcessOptions& options = {});

}  // namespace distal::core
