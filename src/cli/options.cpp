#include "cli/options.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "cli/found.h"
#include "lang/parse.h"
#include "lang/suggest.h"
#include "lang/validate.h"
#include "lower/compile.h"
#include "schedule/expand_precomputes.h"

namespace distal::core {

namespace {

std::pair<std::string, std::string> name_and_value(const std::string& word, const std::string& option,
                                                   const char* value) {
  size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
    throw Error(fmt::format("{} takes NAME={}, and got '{}'", option, value, word), {},
                fmt::format("write {} without spaces around the `=`",
                            option == "--set" ? "--set ni=512,nj=256" : option + " B=b.npy"));
  }
  return {word.substr(0, equals), word.substr(equals + 1)};
}

// Without the spaces around it, as in "n = 4, m = 5".
std::string trimmed(const std::string& text) {
  size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// Throws an Error if two tensors would be saved to one file.
void require_files_apart(const std::map<std::string, std::string>& files) {
  std::map<std::filesystem::path, std::string> tensors;
  for (const auto& [tensor, file] : files) {
    std::error_code failed;
    auto [other, is_new] =
        tensors.emplace(std::filesystem::weakly_canonical(std::filesystem::absolute(file), failed), tensor);
    if (is_new) continue;
    throw Error(fmt::format("--save {}={}: {} is saved to this file", tensor, file, other->second), {},
                "name one file for each tensor");
  }
}

}  // namespace

void refuse_unknown_tensor(const Module& module, const std::string& name, const std::string& where) {
  std::vector<std::string> known;
  for (const Tensor& t : module.tensors) known.push_back(t.name);
  throw Error(fmt::format("{}there is no tensor {} in the program", where, name), {},
              fmt::format("the tensors are {}{}", listing(known), did_you_mean(name, known)));
}

void show_text(const CliOptions& options, const std::string& text) {
  show_progress(options, "");
  options.hide_progress();
  fmt::print("{}", as_shown(text, options.terminal));
  std::fflush(stdout);
}

Bindings parse_settings(const std::vector<std::string>& settings) {
  Bindings out;
  for (const std::string& setting : settings) {
    std::stringstream words(setting);
    for (std::string word; std::getline(words, word, ',');) {
      auto [left, right] = name_and_value(trimmed(word), "--set", "VALUE");
      std::string name = trimmed(left), text = trimmed(right);
      int64_t value = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) {
        throw Error(fmt::format("--set {}: '{}' is not a 64-bit integer", name, text), {},
                    "write all digits, as in --set ni=1000000");
      }
      out[name] = value;
    }
  }
  return out;
}

std::map<std::string, std::string> parse_files(const std::vector<std::string>& words, const std::string& option,
                                               const Module& module) {
  std::map<std::string, std::string> out;
  for (const std::string& word : words) {
    auto [name, file] = name_and_value(word, option, "FILE");
    if (!module.find_tensor(name)) refuse_unknown_tensor(module, name, fmt::format("{} {}: ", option, word));
    if (size_t comma = file.find(','); comma != std::string::npos) {
      if (size_t equals = file.find('=', comma);
          equals != std::string::npos && module.find_tensor(file.substr(comma + 1, equals - comma - 1))) {
        throw Error(fmt::format("{} {}: give {} once for each tensor", option, word, option));
      }
    }
    if (!out.emplace(name, file).second) throw Error(fmt::format("{} names a file for tensor {} twice", option, name));
  }
  if (option == "--save") require_files_apart(out);
  return out;
}

ElementType parse_type_option(const std::string& name) {
  if (std::optional<ElementType> type = parse_element_type(name)) return *type;
  throw Error(fmt::format("--type {}: there is no such element type", name), {},
              "the types are " + element_type_names());
}

LoadedModule load_module(const CliOptions& options) {
  LoadedModule loaded{parse_file(options.file), {}};
  if (!options.type.empty()) loaded.module.type = parse_type_option(options.type);
  loaded.params = distal::core::bind(loaded.module, parse_settings(options.set));
  validate(expand_precomputes(loaded.module), loaded.params);
  return loaded;
}

LoadedModule load_found(const CliOptions& options) {
  LoadedModule loaded = load_module(options);
  find_left_out(options, loaded);
  return loaded;
}

std::shared_ptr<PreparedProgram> prepare(const CliOptions& options, const LoadedModule& loaded) {
  show_progress(options, "planning");
  return std::make_shared<PreparedProgram>(compile(loaded.module), loaded.params);
}

}  // namespace distal::core
