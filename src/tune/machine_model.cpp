#include "tune/machine_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

#include "support/error.h"

namespace distal::core {

namespace {

std::map<std::string, double MachineModel::*> fields() {
  return {{"flops_per_second", &MachineModel::flops_per_second},
          {"link_bytes_per_second", &MachineModel::link_bytes_per_second},
          {"memory_bytes_per_second", &MachineModel::memory_bytes_per_second},
          {"seconds_per_message", &MachineModel::seconds_per_message}};
}

std::string trimmed(const std::string& text) {
  size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

double parse_number(const std::string& word, const std::string& where) {
  double value = 0;
  auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  bool whole = failed == std::errc() && end == word.data() + word.size();
  if (!whole || !std::isfinite(value) || value <= 0) {
    throw Error(fmt::format("{}: '{}' is not a positive number", where, word));
  }
  return value;
}

}  // namespace

MachineModel parse_model(const std::string& text, const std::string& source_name) {
  std::map<std::string, double MachineModel::*> missing = fields();
  MachineModel model;
  std::stringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    std::string where = fmt::format("{}:{}", source_name, ++number);
    std::string said = trimmed(line.substr(0, line.find('#')));
    if (said.empty()) continue;
    size_t equals = said.find('=');
    if (equals == std::string::npos) throw Error(fmt::format("{}: expected `name = number`, got `{}`", where, said));
    std::string name = trimmed(said.substr(0, equals));
    auto field = missing.find(name);
    if (field == missing.end()) {
      bool twice = fields().count(name) > 0;
      throw Error(fmt::format("{}: {} `{}`", where, twice ? "a second value for" : "there is no constant", name));
    }
    model.*(field->second) = parse_number(trimmed(said.substr(equals + 1)), where);
    missing.erase(field);
  }
  if (!missing.empty()) throw Error(fmt::format("{}: the model lacks `{}`", source_name, missing.begin()->first));
  return model;
}

MachineModel read_model(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  in.peek();  // a folder opens like a file; only reading it fails
  if (!in.is_open() || in.bad()) throw Error(fmt::format("cannot read the model {}", path));
  in.clear();
  return parse_model({std::istreambuf_iterator<char>(in), {}}, path);
}

MachineModel model_of_engine(const std::string& engine) {
  auto found = embedded_models().find(engine);
  if (found == embedded_models().end()) throw Error(fmt::format("there is no model of the engine `{}`", engine));
  return parse_model(found->second, engine + ".model");
}

double seconds_of(const MachineModel& model, const Work& work) {
  double leaf = std::max(work.flops / model.flops_per_second, work.leaf_bytes / model.memory_bytes_per_second);
  return leaf + work.exchanged_bytes / model.link_bytes_per_second + work.messages * model.seconds_per_message;
}

}  // namespace distal::core
