#include "cli/command_words.h"

namespace distal::core {

namespace {

// `TEXT:{auto,generated}` is a value with two choices.
void split_type(const std::string& type, OptionWords& out) {
  size_t open = type.find('{'), close = type.find('}');
  out.value = type.substr(0, type.find_first_of(":{ "));
  if (open == std::string::npos || close == std::string::npos) return;
  std::string choices = type.substr(open + 1, close - open - 1);
  for (size_t begin = 0; begin <= choices.size();) {
    size_t end = std::min(choices.find(',', begin), choices.size());
    out.choices.push_back(choices.substr(begin, end - begin));
    begin = end + 1;
  }
}

OptionWords words_of(const CLI::Option& option) {
  OptionWords out;
  out.description = option.get_description();
  out.is_positional = option.get_positional();
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  if (out.is_positional) out.names = {option.get_name(true)};
  if (option.get_items_expected_max() > 0) split_type(option.get_type_name(), out);
  return out;
}

}  // namespace

std::vector<CommandWords> command_words(const CLI::App& app) {
  std::vector<CommandWords> out;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandWords words{command->get_name(), command->get_description(), {}};
    for (const CLI::Option* option : command->get_options()) words.options.push_back(words_of(*option));
    out.push_back(std::move(words));
  }
  return out;
}

}  // namespace distal::core
