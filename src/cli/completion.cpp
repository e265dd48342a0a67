#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_words.h"
#include "support/error.h"

namespace distal::core {

namespace {

std::vector<std::string> option_names(const CommandWords& command) {
  std::vector<std::string> out;
  for (const OptionWords& option : command.options) {
    if (!option.is_positional) out.insert(out.end(), option.names.begin(), option.names.end());
  }
  return out;
}

std::vector<std::string> names_of(const std::vector<CommandWords>& commands) {
  std::vector<std::string> out;
  for (const CommandWords& command : commands) out.push_back(command.name);
  return out;
}

std::string bash(const std::vector<CommandWords>& commands) {
  std::string out = fmt::format(
      "# Completion of distal for bash.\n"
      "_distal() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\" command=\"\" word "
      "words\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"${{command:+$command }}$word\" in\n"
      "      {}) command=\"$word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command\" in\n"
      "    \"\") words=\"{} --help --version\" ;;\n",
      fmt::join(names_of(commands), " | "), fmt::join(names_of(commands), " "));
  for (const CommandWords& c : commands) {
    out += fmt::format("    \"{}\") words=\"{}\" ;;\n", c.name, fmt::join(option_names(c), " "));
  }
  out += "  esac\n  case \"$command $before\" in\n";
  for (const CommandWords& c : commands) {
    for (const OptionWords& option : c.options) {
      if (option.choices.empty() || option.is_positional) continue;
      out +=
          fmt::format("    \"{} {}\") words=\"{}\" ;;\n", c.name, option.names.back(), fmt::join(option.choices, " "));
    }
  }
  return out +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  [[ -z $command || $current == -* ]] || COMPREPLY+=($(compgen -f -- \"$current\"))\n"
         "}\n"
         "complete -o filenames -F _distal distal\n";
}

// A text within single quotes of zsh or fish, without the characters that have a meaning for _arguments.
std::string quoted(const std::string& text, const std::string& escaped) {
  std::string out;
  for (char c : text) {
    if (escaped.find(c) != std::string::npos) out += '\\';
    out += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return out;
}

std::string zsh(const std::vector<CommandWords>& commands) {
  std::string out =
      "#compdef distal\n# Completion of distal for zsh.\n_distal() {\n  local -a words_known\n  local "
      "command=$words[2]\n";
  out += "  if (( CURRENT == 2 )); then\n    words_known=(\n";
  for (const CommandWords& c : commands) out += fmt::format("      '{}:{}'\n", c.name, quoted(c.description, ":"));
  out += "    )\n    _describe command words_known\n    return\n  fi\n";
  out += "  case $command in\n";
  for (const CommandWords& c : commands) {
    out += fmt::format("    '{}') _arguments \\\n", c.name);
    for (const OptionWords& option : c.options) {
      if (option.is_positional) continue;
      std::string value = option.value.empty() ? ""
                          : option.choices.empty()
                              ? fmt::format(":{}:_files", option.value)
                              : fmt::format(":{}:({})", option.value, fmt::join(option.choices, " "));
      out += fmt::format("      '{}[{}]{}' \\\n", option.names.back(), quoted(option.description, "[]:"), value);
    }
    out += "      '*:file:_files' ;;\n";
  }
  return out + "  esac\n}\n_distal \"$@\"\n";
}

std::string fish(const std::vector<CommandWords>& commands) {
  std::string out = "# Completion of distal for fish.\n";
  for (const CommandWords& c : commands) {
    out += fmt::format("complete -c distal -n __fish_use_subcommand -f -a {} -d '{}'\n", c.name,
                       quoted(c.description, "\\"));
  }
  for (const CommandWords& c : commands) {
    for (const OptionWords& option : c.options) {
      if (option.is_positional) continue;
      const std::string& name = option.names.back();
      out += fmt::format("complete -c distal -n '__fish_seen_subcommand_from {}' -l {} -d '{}'", c.name, name.substr(2),
                         quoted(option.description, "\\"));
      if (!option.value.empty()) out += " -r";
      if (!option.choices.empty()) out += fmt::format(" -f -a '{}'", fmt::join(option.choices, " "));
      out += "\n";
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  std::vector<CommandWords> commands = command_words(app);
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  throw InternalError("no completion for " + shell);
}

}  // namespace distal::core
