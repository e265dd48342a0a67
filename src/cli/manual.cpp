#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_words.h"

namespace distal::core {

namespace {

// A text for troff: a hyphen that is part of a name, and no line that begins with a command.
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string synopsis(const CommandWords& command) {
  std::string out = fmt::format("\\fBdistal {}\\fR", escaped(command.name));
  for (const OptionWords& option : command.options) {
    if (option.is_positional) out += fmt::format(" \\fI{}\\fR", escaped(option.names.front()));
  }
  return out + " [options]";
}

std::string entry(const OptionWords& option) {
  std::string names = fmt::format("\\fB{}\\fR", escaped(fmt::format("{}", fmt::join(option.names, ", "))));
  if (option.is_positional) names = fmt::format("\\fI{}\\fR", escaped(option.names.front()));
  if (!option.is_positional && !option.value.empty()) names += fmt::format(" \\fI{}\\fR", escaped(option.value));
  std::string text = option.description;
  if (!option.choices.empty()) text += fmt::format(": {}", fmt::join(option.choices, ", "));
  return fmt::format(".TP\n{}\n{}\n", names, escaped(text));
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::vector<CommandWords> commands = command_words(app);
  std::string out = ".TH DISTAL 1 \"\" \"DISTAL\" \"User commands\"\n.SH NAME\ndistal \\- " +
                    escaped("the distributed tensor algebra compiler") + "\n.SH SYNOPSIS\n";
  for (const CommandWords& command : commands) out += synopsis(command) + "\n.br\n";
  out += ".SH COMMANDS\n";
  for (const CommandWords& command : commands) {
    out += fmt::format(".SS {}\n{}\n", synopsis(command), escaped(command.description + "."));
    for (const OptionWords& option : command.options) out += entry(option);
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : {std::pair{"0", "success"},
                                        {"1", "the check found a wrong result"},
                                        {"2", "the input is wrong"},
                                        {"3", "resources are missing"},
                                        {"130", "the user interrupted the command"}}) {
    out += fmt::format(".TP\n{}\n{}\n", status, meaning);
  }
  return out;
}

}  // namespace distal::core
