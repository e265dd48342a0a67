#include "cli/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lang/suggest.h"

namespace distal::core {

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> out;
  for (const CLI::App* command : commands) out.push_back(command->get_name());
  return out;
}

// The command that was being read, and how it is called.
struct Chosen {
  const CLI::App* command;
  std::string name;
};

Chosen chosen_in(const CLI::App& app) {
  Chosen out{&app, "distal"};
  while (!out.command->get_subcommands().empty()) {
    out.command = out.command->get_subcommands().front();
    out.name += " " + out.command->get_name();
  }
  return out;
}

std::string help_of(const Chosen& chosen) { return fmt::format("`{} --help` lists what there is", chosen.name); }

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> out;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  }
  return out;
}

Error unknown_option(const CLI::App& app, const Chosen& chosen, const std::string& word) {
  std::string name = word.substr(0, word.find('='));
  std::string what = fmt::format("`{}` has no option `{}`", chosen.name, name);
  if (name == "->") return Error(what, {}, "a format stands in quotes, as in 'xy -> x on Grid(4)'");
  if (std::string guess = did_you_mean(name, options_of(*chosen.command)); !guess.empty()) {
    return Error(what, {}, help_of(chosen) + guess);
  }
  if (name == "--verbose" || name == "-v" || name == "--debug") {
    return Error(what, {},
                 "`distal explain FILE` shows loops, placement, Program and communication; " + help_of(chosen));
  }
  std::vector<std::string> others;
  for (const CLI::App* command : commands_of(app)) {
    if (command->get_option_no_throw(name) != nullptr) others.push_back(command->get_name());
  }
  if (others.empty()) return Error(what, {}, help_of(chosen));
  return Error(what, {}, fmt::format("it is an option of {}; {}", listing(others), help_of(chosen)));
}

Error unexpected_word(const Chosen& chosen, const std::string& word) {
  std::string what = fmt::format("`{}` does not know what to do with `{}`", chosen.name, word);
  size_t equals = word.find('=');
  if (equals != std::string::npos && chosen.command->get_option_no_throw("--set") != nullptr) {
    bool file = word.ends_with(".npy") && chosen.command->get_option_no_throw("--load") != nullptr;
    return Error(what, {}, fmt::format("write `{} {}`", file ? "--load" : "--set", word));
  }
  if (word.ends_with(".distal")) return Error(what, {}, "it takes one program");
  return Error(what, {}, help_of(chosen));
}

Error extra_words(const CLI::App& app, const Chosen& chosen) {
  std::vector<std::string> words = app.remaining(true);
  auto option = std::find_if(words.begin(), words.end(), [](const std::string& w) { return w.starts_with("-"); });
  if (option != words.end()) return unknown_option(app, chosen, *option);
  return unexpected_word(chosen, words.empty() ? "" : words.front());
}

Error missing_command(const Chosen& chosen) {
  return Error(
      fmt::format("`{}` needs a command", chosen.name), {},
      fmt::format("the commands are {}; {}", listing(names_of(commands_of(*chosen.command))), help_of(chosen)));
}

std::string described(const CLI::Option& option) {
  std::string what = option.get_description();
  return what.empty() ? "" : fmt::format("{} is {}; ", option.get_name(), what);
}

// The description of FILE in the error `FILE is required`.
Error missing_word(const Chosen& chosen, const std::string& message) {
  for (const CLI::Option* option : chosen.command->get_options()) {
    if (!message.starts_with(option->get_name() + " ")) continue;
    return Error(fmt::format("`{}`: {}", chosen.name, message), {}, described(*option) + help_of(chosen));
  }
  return Error(fmt::format("`{}`: {}", chosen.name, message), {}, help_of(chosen));
}

}  // namespace

void require_known_command(const CLI::App& app, int argc, const char* const* argv) {
  std::string word = argc > 1 ? argv[1] : "";
  std::vector<std::string> names = names_of(commands_of(app));
  if (word.empty() || word[0] == '-' || std::find(names.begin(), names.end(), word) != names.end()) return;
  std::string what = fmt::format("there is no command `{}`", word);
  if (word.ends_with(".distal"))
    throw Error(what, {}, fmt::format("write `distal run {0}` or `distal explain {0}`", word));
  std::string option = "--" + word;
  if (app.get_option_no_throw(option) != nullptr) throw Error(what, {}, fmt::format("write `distal {}`", option));
  throw Error(what, {}, fmt::format("the commands are {}{}", listing(names), did_you_mean(word, names)));
}

Error usage_error(const CLI::App& app, const CLI::ParseError& refused) {
  Chosen chosen = chosen_in(app);
  std::string message = refused.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&refused) != nullptr) return extra_words(app, chosen);
  if (dynamic_cast<const CLI::RequiredError*>(&refused) != nullptr) {
    std::vector<std::string> words = app.remaining(true);
    if (!message.starts_with("A subcommand")) return missing_word(chosen, message);
    return words.empty() ? missing_command(chosen) : extra_words(app, chosen);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&refused) != nullptr) {
    return Error(fmt::format("`{}`: {} needs a value", chosen.name, message.substr(0, message.find(':'))), {},
                 help_of(chosen));
  }
  return Error(fmt::format("`{}`: {}", chosen.name, message), {}, help_of(chosen));
}

}  // namespace distal::core
