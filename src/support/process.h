#pragma once

#include <string>
#include <vector>

namespace distal::core {

// Where a program is on the path; empty if it is not. A name with a / is looked at as it is.
std::string on_path(const std::string& program);

struct ProcessOptions {
  std::vector<std::string> environment;  // NAME=VALUE, beside what this process has
  std::string output;                    // a file for what it prints, on both streams; empty: where ours goes
  std::string standard_output;           // a file for its standard output alone
};

// Runs a program by its path and waits for it. Its exit status, or -1 if it could not start or was killed.
int run_process(const std::vector<std::string>& command, const ProcessOptions& options = {});

}  // namespace distal::core
