#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace distal::core {

// The command line as data, for its manual page and for the completion of shells. All of it comes from the parser's own
// description.

struct OptionWords {
  std::vector<std::string> names;  // "--load", "-o"; of a positional its name
  std::string description;
  std::string value;                 // what stands behind it, such as TEXT; empty for a flag
  std::vector<std::string> choices;  // the legal values, if they are listed
  bool is_positional = false;
};

struct CommandWords {
  std::string name;
  std::string description;
  std::vector<OptionWords> options;
};

std::vector<CommandWords> command_words(const CLI::App& app);

// The completion for a shell: bash, zsh or fish.
std::string completion_script(const CLI::App& app, const std::string& shell);
// The manual page, in the language of man.
std::string manual_page(const CLI::App& app);

}  // namespace distal::core
